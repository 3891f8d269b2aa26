"""Programs that people run, with 2 and 4 ranks: they compute what they compute without us, and an independent count
of the same run agrees with the profile, call by call. Which programs, and on what: tests/programs/zoo.py.
docs/real-programs.md shows what the reports look like."""

import pathlib
import shutil
import sys

from cases.exactness import compare_with_oracle
from harness import CASES, ROOT, Case, Skip, case, check, execute, same

sys.path.insert(0, str(ROOT / "tests" / "programs"))
import zoo  # noqa: E402


def ready_directory(scene, program, ranks, name):
    """A directory in which the program can run, and how it is called there."""
    directory = scene.subdir(f"{ranks}-{name}")

    def run(argv, stdin):
        scene.tool(argv[0])
        with open(stdin or "/dev/null") as text:
            execute(argv, cwd=directory, env=scene.environment(), stdin=text).succeeded()

    try:
        program.make_ready(directory, ranks, run)
        return directory, program.command(directory)
    except zoo.Missing as missing:
        raise Skip(str(missing))


def computes_the_same_and_is_counted_exactly(program):
    def function(scene):
        for ranks in program.ranks:
            directory, command = ready_directory(scene, program, ranks, "plain")
            plain = scene.mpirun(ranks, command, profiled=None, cwd=directory, env=program.env).succeeded()
            expected = program.results(directory, plain.out)
            check(expected, f"{program.name} on {ranks} ranks has no results:\n{plain.out[-3000:]}{plain.err[-1000:]}")
            directory, command = ready_directory(scene, program, ranks, "profiled")
            linked = scene.compile("ring.c") if program.loads_mpi else program.path(directory)
            ran = compare_with_oracle(scene, program.languages, command, ranks, directory, linked=linked,
                                      leaves_out=program.loads_mpi, env=program.env,
                                      in_callbacks=program.in_callbacks)
            same(program.results(directory, ran.out), expected, f"results of {program.name} on {ranks} ranks")
            if program.same_stderr:
                same(sorted(ran.err.splitlines()), sorted(plain.err.splitlines()), "stderr")
    return function


for program in zoo.PROGRAMS:
    CASES.append(Case(f"{program.name}_computes_the_same_and_is_counted_exactly", computes_the_same_and_is_counted_exactly(program),
                      mpis=("openmpi",), ranks=4, tier="full", timeout=600, attempts=1))


@case(ranks=4, tier="full")
def mpi4py_example_computes_the_same_and_is_counted_exactly(scene):
    python = scene.python_with("mpi4py", "numpy")
    for ranks in (2, 4):
        command = [python, ROOT / "examples" / "data_parallel" / "data_parallel.py", 50]
        plain = scene.mpirun(ranks, command, profiled=None).succeeded()
        if "1 ranks" in plain.out:
            raise Skip("this mpi4py was built for the other MPI")
        ran = compare_with_oracle(scene, "c", command, ranks, scene.subdir(str(ranks)), linked=scene.compile("ring.c"), leaves_out=True)
        same((ran.out, ran.err), (plain.out, plain.err), f"output on {ranks} ranks")


@case(ranks=2, tier="full")
def netpipe_is_counted_exactly(scene):
    """A ping-pong over many sizes, where the distribution has it."""
    program = {"openmpi": "NPopenmpi", "mpich": "NPmpich2"}[scene.mpi]
    path = shutil.which(program)
    if path is None:
        raise Skip(f"{program} is not installed")
    compare_with_oracle(scene, "c", [pathlib.Path(path), "-u", 65536], 2, scene.dir)
