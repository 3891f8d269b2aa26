"""Clocks that another preloaded library moves: times are the kernel's, and the report says that somebody moves them."""

import csv
import io
import re

from harness import case, check, same

PROGRAM = "barrier_times.c"


def time_in_barrier(scene, env, before, label):
    place = scene.subdir(label)
    ran = scene.mpirun(2, [scene.compile(PROGRAM)], env=env, cwd=place, before=before, profiled="ranks").succeeded()
    really = float(re.search(r"barrier ([0-9.]+)", ran.out)[1])
    rows = scene.run_report("calls", "--rank", "1", "--format", "csv", cwd=place).succeeded().out
    ours = sum(float(row["total_time_ns"]) for row in csv.DictReader(io.StringIO(rows)) if row["call"] == "MPI_Barrier") * 1e-9
    print(f"{label}: {ours:.3f} s, really {really:.3f} s")
    check(abs(ours - really) < 0.1 * really, f"{label}: rank 1 was in MPI_Barrier for {really} s, and the profile has {ours} s\n{rows}")
    return re.sub(r"\s+", " ", scene.run_report(cwd=place).succeeded().out)


@case(ranks=2)
def clock_that_another_library_moves_changes_no_duration_and_is_said(scene):
    moved = scene.shared_object("moved_clock.c")
    for clock in ("tsc", "mono"):
        for how in ("still", "fast") if clock == "tsc" else ("fast",):
            report = time_in_barrier(scene, {"MOVED_CLOCK": how, "MPIPROF_CLOCK": clock}, [moved], f"{how}.{clock}")
            check("moves the program's clock" in report, f"{how}, {clock}: the report says nothing of it\n{report}")
        report = time_in_barrier(scene, {"MPIPROF_CLOCK": clock}, [], f"plain.{clock}")
        check("clock" not in report.split("FINDINGS")[1], f"the report speaks of clocks\n{report}")
