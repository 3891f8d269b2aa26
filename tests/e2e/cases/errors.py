"""Calls that fail: counted as errors, without bytes, with their code unchanged; and calls that never return."""

from harness import case, check, differences, read_tables, same, without_start_and_end


def errors_of(scene, directory=None):
    """{(rank, call): errors}"""
    found = {}
    for row in scene.export_rows(cwd=directory):
        key = int(row["rank"]), row["call"]
        found[key] = found.get(key, 0) + int(row["errors"])
    return {key: n for key, n in found.items() if n}


def calls_and_bytes(scene, directory=None):
    """What the profiles say of calls that returned with success."""
    return {key: value for key, value in without_start_and_end(scene.export(cwd=directory)).items() if value != (0, 0)}


@case(ranks=3)
def failing_calls_are_errors_without_bytes(scene):
    program = scene.compile("errors.c")
    plain = scene.mpirun(3, [program, "plain"], profiled=None).succeeded()

    ours = scene.mpirun(3, [program, "expected"]).succeeded()

    same(ours.out, plain.out, "error classes and handler calls, printed by the program")
    expected = read_tables(scene.dir / "expected.[0-9].csv")
    found = calls_and_bytes(scene)
    check(found == expected, "(rank, call, bin) -> (calls, bytes):\n" + differences(found, expected))
    expected = {(rank, call): n for (rank, call, _), (n, _) in read_tables(scene.dir / "expected.errors.*.csv").items()}
    found = errors_of(scene)
    check(found == expected, "(rank, call) -> errors:\n" + differences(found, expected))


@case(ranks=2)
def calls_after_an_exception_or_longjmp_are_exact(scene):
    program = scene.compile("unwinding.cpp", compiler=scene.tool(f"mpicxx.{scene.mpi}"))
    for way in ("throw", "longjmp"):
        directory = scene.subdir(way)
        plain = scene.mpirun(2, [program, way, "plain"], profiled=None, cwd=directory).succeeded()

        ours = scene.mpirun(2, [program, way, "expected"], cwd=directory).succeeded()

        same(ours.out, plain.out, "stdout")
        expected = read_tables(directory / "expected.*.csv")
        found = calls_and_bytes(scene, directory)
        check(found == expected, f"after {way}, (rank, call, bin) -> (calls, bytes):\n" + differences(found, expected))


@case(ranks=1)
def null_arguments_get_their_error(scene):
    program = scene.compile("null.c", "-w")
    plain = scene.mpirun(1, [program, scene.mpi], profiled=None).succeeded()

    ours = scene.mpirun(1, [program, scene.mpi]).succeeded()

    same((ours.out, ours.err), (plain.out, plain.err), "output")
