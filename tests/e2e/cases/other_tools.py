"""Beside other tools: behind us in the chain a tool sees every call, and so do we; in front of us it works as it does
alone, and we see what it lets through."""

import json

from harness import case, check, differences, read_tables, same, without_start_and_end

ROUNDS = 40


# What tool.c answers itself: a profiler behind it in the chain cannot see these, as the tool calls PMPI_.
KEPT_BY_THE_TOOL = {"MPI_Send", "MPI_Recv", "MPI_Allreduce"}


def check_profile(scene, directory, without=(), is_told=True):
    expected = {key: value for key, value in read_tables(directory / "expected.*.csv").items() if key[1] not in without}
    found = without_start_and_end(scene.export(cwd=directory))
    check(found == expected, f"{directory.name}, (rank, call, bin) -> (calls, bytes):\n" + differences(found, expected))
    states = {rank["state"] for rank in json.loads(scene.run_report("export", "-f", "json", cwd=directory).out)["ranks"]}
    same(states, {"finalized"}, f"states of the ranks, {directory.name}")
    summary = " ".join(scene.run_report(cwd=directory).out.split())
    if is_told:  # a program may not export its own functions
        same("another PMPI tool precedes" in summary, bool(without), f"whether the report tells of the tool in front:\n{summary}")


def check_tool(directory, lines=1):
    for rank in (0, 1):
        sends = ROUNDS * (rank == 0)
        expected = f"{sends} sends {ROUNDS - sends} receives {ROUNDS} reductions {32 * sends} bytes\n"
        same((directory / f"tool.{rank}").read_text(), expected * lines, f"what the tool saw on rank {rank}, {directory.name}")


def run(scene, program, directory, preload):
    """Runs pairs with LD_PRELOAD of the ranks."""
    env = {"TOOL_FILE": directory / "tool", "LD_PRELOAD": ":".join(map(str, preload))}
    return scene.mpirun(2, [program, ROUNDS, "expected"], profiled=None, cwd=directory, env=env).succeeded()


@case(ranks=2)
def pmpi_tool_before_or_after_us_sees_every_call(scene):
    program = scene.compile("pairs.c")
    tool = scene.shared_object("tool.c")
    for name, preload in (("tool_first", [tool, scene.library]), ("tool_last", [scene.library, tool]), ("tool_alone", [tool])):
        directory = scene.subdir(name)
        ran = run(scene, program, directory, preload)
        same((ran.out, ran.err), ("pairs: 2 ranks, 0 wrong\n", ""), f"output with {name}")
        check_tool(directory)
        if scene.library in preload:
            check_profile(scene, directory, without=KEPT_BY_THE_TOOL if name == "tool_first" else ())


@case(ranks=2)
def program_linked_with_a_pmpi_tool_is_profiled(scene):
    tool = scene.shared_object("tool.c", name="libtool")
    program = scene.compile("pairs.c", f"-L{scene.bin}", f"-l:{tool.name}", f"-Wl,-rpath,{scene.bin}", "-Wl,--no-as-needed",
                            name=f"pairs_with_tool.{scene.mpi}")
    directory = scene.subdir("linked")
    run(scene, program, directory, [scene.library])
    check_tool(directory)
    check_profile(scene, directory)


@case(ranks=2)
def program_with_a_tool_inside_is_seen_as_far_as_it_lets_through(scene):
    """As with libmpiP.a: the tool's functions are the program's own, and nobody can come between."""
    tool = scene.compile("tool.c", "-c", "-fPIC", name=f"tool.{scene.mpi}.o")
    program = scene.compile("pairs.c", tool, name=f"pairs_with_tool_inside.{scene.mpi}")
    directory = scene.subdir("inside")
    run(scene, program, directory, [scene.library])
    check_tool(directory)
    check_profile(scene, directory, without=KEPT_BY_THE_TOOL, is_told=False)


@case(ranks=2)
def linking_with_the_library_works_as_preloading_does(scene):
    """-lmpiprof in front of the MPI library, in C and in Fortran; and both at once count once."""
    link = [scene.library, f"-Wl,-rpath,{scene.library.parent}", "-Wl,--no-as-needed"]
    pairs = scene.compile("pairs.c", *link, name=f"pairs_linked.{scene.mpi}")
    for name, preload in (("linked", []), ("linked_and_preloaded", [scene.library])):
        directory = scene.subdir(name)
        run(scene, pairs, directory, preload)
        check_profile(scene, directory)
    for flavour, flags in (("mpi", []), ("mpi_f08", ["-DF08"])):
        fortran = scene.compile("fortran.f90", "-cpp", *flags, *link, name=f"fortran_linked.{flavour}.{scene.mpi}")
        directory = scene.subdir(f"fortran_{flavour}")
        scene.mpirun(2, [fortran, "expected"], profiled=None, cwd=directory).succeeded()
        check_profile(scene, directory)


@case(ranks=2)
def linked_library_and_pmpi_tool_both_count(scene):
    tool = scene.shared_object("tool.c")
    pairs = scene.compile("pairs.c", scene.library, f"-Wl,-rpath,{scene.library.parent}", "-Wl,--no-as-needed",
                          name=f"pairs_linked.{scene.mpi}")
    directory = scene.subdir("tool_preloaded")  # what is preloaded comes before what is linked
    run(scene, pairs, directory, [tool])
    check_tool(directory)
    check_profile(scene, directory, without=KEPT_BY_THE_TOOL)
