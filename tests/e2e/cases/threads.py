"""Threads: exact sums with many at once, nothing lost and nothing growing with many in turn."""

from harness import case, check, differences, read_tables, same, without_start_and_end


def by_others(scene, directory=None):
    """{(rank, call, bin_max_bytes): calls}, and the time in ns, of the threads other than the main one."""
    calls, time = {}, {}
    for row in scene.export_rows(cwd=directory):
        key = int(row["rank"]), row["call"], int(row["bin_max_bytes"])
        calls[key] = calls.get(key, 0) + int(row["other_thread_calls"])
        time[key] = time.get(key, 0) + int(row["other_thread_ns"] or 0)
    return {key: n for key, n in calls.items() if n}, time


def check_sums(scene, directory, prefix="expected"):
    expected = read_tables(directory / f"{prefix}.[0-9].csv")
    found = {key: value for key, value in without_start_and_end(scene.export(cwd=directory)).items() if value != (0, 0)}
    check(found == expected, "(rank, call, bin) -> (calls, bytes):\n" + differences(found, expected))
    expected = {key: n for key, (n, _) in read_tables(directory / f"{prefix}.others.[0-9].csv").items()}
    found, time = by_others(scene, directory)
    check(found == expected, "calls of other threads, (rank, call, bin) -> calls:\n" + differences(found, expected))
    return time


@case(ranks=2)
def sums_of_2_to_64_threads_are_exact(scene):
    program = scene.compile("threads.c", "-pthread")
    for threads, calls in ((2, 2000), (8, 500), (64, 40)):
        directory = scene.subdir(str(threads))
        scene.mpirun(2, [program, "many", threads, calls, "expected"], cwd=directory).succeeded()
        time = check_sums(scene, directory)
        for rank in (0, 1):
            check(time[rank, "MPI_Sendrecv", 16] > 0, "no time of other threads in MPI_Sendrecv")
        for row in scene.export_rows(cwd=directory):
            if row["call"] in ("MPI_Comm_dup", "MPI_Comm_free"):
                same((row["other_thread_calls"], row["other_thread_ns"]), ("0", "0"), f"of other threads in {row['call']}")


def storm(scene, how, threads):
    program = scene.compile("threads.c", "-pthread")
    scene.mpirun(1, [program, how, threads, 0, "expected"]).succeeded()
    check_sums(scene, scene.dir)
    growth = int((scene.dir / "expected.0.growth").read_text())
    check(growth < 2048, f"the process grew by {growth} KiB over {threads} threads")
    size = scene.profiles()[0].stat().st_size
    check(size < 1 << 20, f"the profile of {threads} short threads has {size} bytes")


@case(ranks=1)
def ten_thousand_short_threads_lose_nothing(scene):
    storm(scene, "storm", 10000)


@case(ranks=1)
def threads_that_call_mpi_in_their_destructors_lose_nothing(scene):
    storm(scene, "late", 2000)
