"""What lies between a launcher and its ranks: scripts that do not exec, time, strace, gdb. A launch is one launch all the same,
and two launches are two."""

from harness import Skip, case, check, execute, same

SCRIPT = '#!/bin/sh\n"$@"\nstatus=$?\nexit $status\n'


def script(scene, name="wrap.sh", text=SCRIPT):
    path = scene.dir / name
    path.write_text(text)
    path.chmod(0o755)
    return path


def launches(scene, directory):
    """The ranks of each launch that the report finds in a directory, and what it says of them."""
    names = {path.name.rsplit(".", 1)[0] for path in scene.profiles(directory)}
    return sorted(names)


def is_one_whole_launch(scene, directory, ranks, what, job=None):
    names = launches(scene, directory)
    same(len(names), 1, f"jobs in the names of the files of {what}: {names}; how many")
    if job:
        same(names, [f"mpi_profile.{job}"], f"the job of {what}")
    same(len(scene.profiles(directory)), ranks, f"profiles of {what}")
    text = scene.run_report(cwd=directory).succeeded().out
    check(f"profile complete: {ranks} of {ranks} ranks" in text, f"{what}: the report says\n{text}")


@case(ranks=2)
def launch_behind_a_script_that_does_not_exec_is_one_launch(scene):
    ring, wrap = scene.compile("ring.c"), script(scene)
    # time is a word of the shell's here, which runs what it measures as a child.
    wrappers = {"a script": [wrap], "two scripts": [wrap, wrap], "time": ["bash", "-c", 'time "$@"; true', "bash"]}
    settings = {"": ({}, None), "under PBS": ({"PBS_JOBID": "4711.sdb"}, "4711"), "under Slurm": ({"SLURM_JOB_ID": "815"}, "815"),
                "with a name": ({"MPIPROF_JOB": "baseline"}, "baseline")}
    for number, (wrapper, before) in enumerate(wrappers.items()):
        for other, (when, (env, job)) in enumerate(settings.items()):
            if number and other > 1:
                continue
            directory = scene.subdir(f"{number}-{other}")
            ran = scene.mpirun(2, [*before, ring, 5], env=env, cwd=directory).succeeded()
            check("ring: 2 ranks, 5 calls" in ran.out, f"stdout is {ran.out!r}")
            is_one_whole_launch(scene, directory, 2, f"{wrapper} {when}", job)


@case(ranks=2)
def job_has_the_number_of_its_mpirun_behind_scripts_too(scene):
    """The process whose end the user's shell waits for, as without a script."""
    ring, wrap = scene.compile("ring.c"), script(scene)
    for name, before in (("plain", []), ("wrapped", [wrap])):
        directory = scene.subdir(name)
        shell = 'echo $$ > pid; exec "$@"'
        ran = execute(["bash", "-c", shell, "bash", *scene.launcher(2), "env", f"LD_PRELOAD={scene.preload()}", *before, ring, "5"],
                      cwd=directory, env=scene.environment())
        ran.succeeded()
        is_one_whole_launch(scene, directory, 2, name, (directory / "pid").read_text().strip())


@case(ranks=2)
def two_launches_of_one_script_behind_wrappers_are_two(scene):
    ring, wrap = scene.compile("ring.c"), script(scene)
    for name, env in (("plain", {}), ("pbs", {"PBS_JOBID": "4711.sdb"})):
        directory = scene.subdir(name)
        env = {**env, "LD_PRELOAD": scene.preload()}
        launch = " ".join(map(str, [*scene.launcher(2), wrap, ring]))
        execute(["bash", "-c", f"{launch} 11 && {launch} 22"], cwd=directory, env=scene.environment(env)).succeeded()

        profiles = scene.profiles(directory)
        same(len(profiles), 4, f"profiles ({name})")
        found = sorted((n, rank) for path in profiles for (rank, call), n in scene.calls(path).items() if call == "MPI_Sendrecv")
        same(found, [(11, 0), (11, 1), (22, 0), (22, 1)], f"calls in each file ({name})")
        same(len(launches(scene, directory)), 2, f"jobs in the names of the files ({name})")
        for job in launches(scene, directory):
            check("profile complete: 2 of 2 ranks" in scene.run_report(directory / f"{job}.0", directory / f"{job}.1").succeeded().out, job)


@case(ranks=2, tier="full")
def launch_below_strace_time_and_gdb_is_one_launch(scene):
    ring = scene.compile("ring.c")
    tools = {"time": ["time", "-o", "/dev/null"], "strace": ["strace", "-f", "-o", "/dev/null"],
             "gdb": ["gdb", "--batch", "-q", "-nx", "-ex", "set startup-with-shell on", "-ex", "run", "--args"]}
    tried = 0
    for name, command in tools.items():
        try:
            command = [scene.tool(name), *command[1:]]
        except Skip as reason:
            print(f"not tried: {reason}")
            continue
        if execute([*command, "/bin/true"], env=scene.environment()).code != 0:
            print(f"not tried: {name} may not do its work here")
            continue
        tried += 1
        directory = scene.subdir(name)
        ran = scene.mpirun(2, [*command, ring, 5], cwd=directory).succeeded()
        check("ring: 2 ranks, 5 calls" in ran.out, f"stdout below {name} is {ran.out!r}")
        is_one_whole_launch(scene, directory, 2, name)
    if not tried:
        raise Skip("no time, strace or gdb here")
