"""What the user chooses of the functions: which are recorded, and which a barrier is put before."""

from harness import case, check, same


def times(scene, directory):
    """{(rank, call): ns}"""
    totals = {}
    for row in scene.export_rows(cwd=directory):
        key = int(row["rank"]), row["call"]
        totals[key] = totals.get(key, 0) + int(row["time_ns"] or 0)
    return totals


@case(ranks=4, attempts=3)
def waiting_for_a_late_rank_is_told_apart_from_the_collective(scene):
    program = scene.compile("late.c")
    directory = scene.subdir("barrier")
    late = [program, 300]  # ms, long beside what four ranks that spin on few cores take from each other
    plain = scene.mpirun(4, late, profiled=None).succeeded()
    ran = scene.mpirun(4, late, env={"MPIPROF_COLLECTIVE_BARRIER": "Allreduce"}, cwd=directory).succeeded()
    same((ran.out, ran.err), (plain.out, plain.err), "what the program says")
    calls = scene.calls(cwd=directory)
    for rank in range(4):
        same({name: n for (r, name), n in calls.items() if r == rank and ("reduce" in name or "Bcast" in name)},
             {"MPI_Allreduce": 5, "MPI_Allreduce [barrier]": 5, "MPI_Bcast": 1, "MPI_Iallreduce": 1}, f"calls of rank {rank}")
    spent = times(scene, directory)
    check(spent[0, "MPI_Allreduce [barrier]"] > 800e6, f"rank 0 waits 5 x 300 ms for rank 1 in the barrier: {spent}")
    check(spent[0, "MPI_Allreduce"] < spent[0, "MPI_Allreduce [barrier]"] / 2, f"and not in the collective: {spent}")
    text = scene.run_report("calls", cwd=directory).succeeded().out
    check("MPI_Allreduce [barrier]" in text, text)
    check("MPIPROF_COLLECTIVE_BARRIER" in scene.run_report(cwd=directory).succeeded().out, "the summary says that barriers were added")


@case(ranks=4)
def a_rank_that_is_not_recorded_enters_the_barrier_all_the_same(scene):
    program = scene.compile("late.c")
    everything = {"MPIPROF_COLLECTIVE_BARRIER": "all"}
    for name, arguments, env in (("ranks", [], {"MPIPROF_RANKS": "0,2"}), ("pause", ["pause"], {}), ("window", [], {"MPIPROF_BEGIN_TIME": "0.05"})):
        directory = scene.subdir(name)
        scene.mpirun(4, [program, 20, *arguments], env={**everything, **env}, cwd=directory, timeout=60).succeeded()
        calls = scene.calls(cwd=directory)
        check(calls[0, "MPI_Allreduce [barrier]"] == calls[0, "MPI_Allreduce"] > 0, f"{name}: rank 0 was in barriers: {calls}")


@case(ranks=2)
def barriers_of_fortran_programs_come_once(scene):
    source = scene.dir / "sum.f90"
    source.write_text("program s\n use mpi\n integer :: e, i, a, b\n a = 1\n call MPI_Init(e)\n do i = 1, 7\n"
                      " call MPI_Allreduce(a, b, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)\n end do\n call MPI_Finalize(e)\nend program\n")
    program = scene.compile(source)
    scene.mpirun(2, program, env={"MPIPROF_COLLECTIVE_BARRIER": "all"}).succeeded()
    same({key: n for key, n in scene.calls().items() if "reduce" in key[1]},
         {(r, name): 7 for r in range(2) for name in ("MPI_Allreduce", "MPI_Allreduce [barrier]")}, "calls")


@case(ranks=2)
def only_the_chosen_functions_are_recorded(scene):
    program = scene.compile("ring.c")
    everything = scene.subdir("all")
    scene.mpirun(2, program, cwd=everything).succeeded()
    whole = scene.calls(cwd=everything)
    check({"MPI_Sendrecv", "MPI_Barrier"} <= {name for _, name in whole}, f"what the ring calls: {whole}")
    for choice, keeps in (("MPI_Barrier", lambda name: name == "MPI_Barrier"), ("-sendrecv*", lambda name: name != "MPI_Sendrecv")):
        directory = scene.subdir("only" if keeps("MPI_Barrier") and not keeps("MPI_Comm_rank") else "without")
        scene.mpirun(2, program, env={"MPIPROF_FUNCTIONS": choice}, cwd=directory).succeeded()
        always = ("MPI_Comm_", "MPI_Init", "MPI_Finalize", "MPI_Cart_create")
        expected = {key: n for key, n in whole.items() if keeps(key[1]) and not key[1].startswith(always)}
        same({key: n for key, n in scene.calls(cwd=directory).items() if not key[1].startswith(always)}, expected, f"with {choice}")


@case(mpis=("openmpi",), ranks=1)
def a_function_that_does_not_exist_is_said(scene):
    program = scene.compile("ring.c")
    ran = scene.mpirun(2, program, env={"MPIPROF_FUNCTIONS": "MPI_Snd,MPI_Send", "MPIPROF_COLLECTIVE_BARRIER": "MPI_Send"}).succeeded()
    same(ran.err, "mpiprof: MPIPROF_COLLECTIVE_BARRIER: there is no collective MPI_Send\nmpiprof: MPIPROF_FUNCTIONS: there is no function MPI_Snd\n", "what is said")
