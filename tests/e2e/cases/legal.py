"""Legal programs that careless observers kill: what is not significant is not touched."""

from harness import Skip, case, check, differences, read_tables, same, without_start_and_end


@case(ranks=4)
def legal_programs_run_and_are_counted_exactly(scene):
    program = scene.compile("legal.c", "-w")
    for ranks in (3, 4):
        directory = scene.subdir(f"ranks{ranks}")
        plain = scene.mpirun(ranks, [program, "plain"], profiled=None, cwd=directory).succeeded()

        ours = scene.mpirun(ranks, [program, "expected"], cwd=directory).succeeded()

        same((ours.out, ours.err), (plain.out, plain.err), "output")
        expected = read_tables(directory / "expected.*.csv")
        found = {key: value for key, value in without_start_and_end(scene.export(cwd=directory)).items() if value != (0, 0)}
        check(found == expected, f"{ranks} ranks, (rank, call, bin) -> (calls, bytes):\n" + differences(found, expected))


@case(ranks=2, tier="full")
def two_gib_messages_are_two_gib(scene):
    with open("/proc/meminfo") as file:
        available = next(int(line.split()[1]) for line in file if line.startswith("MemAvailable"))
    if available < 6 << 20:
        raise Skip(f"needs 6 GiB of memory, {available >> 20} GiB are free")

    scene.mpirun(2, [scene.compile("two_gib.c"), "expected"]).succeeded()

    expected = read_tables(scene.dir / "expected.*.csv")
    found = {key: value for key, value in without_start_and_end(scene.export()).items() if value != (0, 0)}
    check(found == expected, "(rank, call, bin) -> (calls, bytes):\n" + differences(found, expected))
