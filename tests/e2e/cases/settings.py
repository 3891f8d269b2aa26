"""MPIPROF_* settings: what is wrong is said once, never fatal; what VERBOSE says."""

from harness import case, check, same


@case(ranks=3)
def settings_are_reported_once_if_wrong(scene):
    ring = scene.compile("ring.c")
    for name, value in (("MPIPROF_FOO", "1"), ("MPIPROF_CLOCK", "sundial"), ("MPIPROF_STORE", "stone")):
        directory = scene.subdir(name)
        ran = scene.mpirun(3, [ring, 4], env={name: value}, cwd=directory).succeeded()
        same(ran.out, "ring: 3 ranks, 4 calls, sum 14\n", "stdout")
        lines = [line for line in ran.err.splitlines() if line.strip()]
        check(len(lines) == 1 and name in lines[0] and "mpiprof" in lines[0], f"with {name}={value} stderr is {ran.err!r}")
        same(len(scene.profiles(directory)), 3, "profiles")


@case(ranks=3)
def verbose_prints_two_lines_from_rank_0(scene):
    ran = scene.mpirun(3, [scene.compile("ring.c"), 4], env={"MPIPROF_VERBOSE": 1, "PBS_JOBID": "4711"}).succeeded()
    same(ran.out, "ring: 3 ranks, 4 calls, sum 14\n", "stdout")
    lines = [line for line in ran.err.splitlines() if line.strip()]
    same(len(lines), 2, f"lines on stderr ({ran.err!r})")
    check({"openmpi": "Open MPI", "mpich": "MPICH"}[scene.mpi] in lines[0], f"the first line does not name the MPI: {lines[0]}")
    check("mpi_profile.4711" in "".join(lines), f"neither line names the files: {lines}")


@case(ranks=2)
def settings_accept_what_they_document(scene):
    ring = scene.compile("ring.c")
    for number, env in enumerate([{"MPIPROF_CLOCK": "tsc"}, {"MPIPROF_CLOCK": "mono"}, {"MPIPROF_STORE": "mapped"},
                                  {"MPIPROF_STORE": "written"}, {"MPIPROF_DISABLE": 0}, {"MPIPROF_VERBOSE": 0}]):
        directory = scene.subdir(str(number))
        ran = scene.mpirun(2, [ring, 40], env=env, cwd=directory).succeeded()
        same(ran.err, "", f"stderr with {env}")
        same({n for (_, call), n in scene.calls(cwd=directory).items() if call == "MPI_Sendrecv"}, {40}, f"calls with {env}")
