"""Parts of a program: what it names itself, in its own words or another tool's, and windows that the user sets."""

import csv
import io
import json
import re

import acts
from harness import case, check, same

CALLS = {"": 7, "set up": 2, "solve": 30, "solve/halo": 45}  # of MPI_Allreduce per rank, outside all regions first


def regions_of(scene, directory):
    """({region: row}, [row of iterations]) of `regions --format csv`."""
    out = scene.run_report("regions", "--format", "csv", cwd=directory).succeeded().out
    tables = [list(csv.DictReader(io.StringIO(part.split("\n", 1)[1]))) for part in out.split("\n\n") if part.strip()]
    return {row["region"]: row for row in tables[0]}, tables[1] if len(tables) > 1 else []


@case(ranks=2)
def regions_of_the_program_have_their_calls_and_times(scene):
    program = scene.compile("regions.c")
    plain = scene.mpirun(2, program, profiled=None, cwd=scene.subdir("plain")).succeeded()
    directory = scene.subdir("marked")

    ran = scene.mpirun(2, program, cwd=directory).succeeded()

    same(ran.out, plain.out, "output with and without the profiler")
    same(ran.err, 'mpiprof: mpiprof_region_end("solve") without a begin is ignored\n', "what is said")
    rows, iterations = regions_of(scene, directory)
    same({name: int(row["own_calls"]) for name, row in rows.items()}, {name: 2 * n for name, n in CALLS.items()}, "calls")
    same({name: int(row["own_message_bytes"]) for name, row in rows.items()}, {name: 8 * n for name, n in CALLS.items()}, "bytes")
    same({name: row["entered"] for name, row in rows.items() if name}, {"set up": "2", "solve": "22", "solve/halo": "22"}, "entered")
    for name, row in rows.items():
        check(int(row["own_mpi_ns"]) <= 2 * float(row["mpi_ns"]) + 1, f"{name or 'all'}: more MPI without than with inner regions")
    check(float(rows["solve/halo"]["time_ns"]) >= 10 * 2e6, f"ten sleeps of 2 ms are in solve/halo: {rows['solve/halo']}")
    same([(row["iterations"], row["region"]) for row in iterations], [("10", "(whole run)")], "iterations")
    check(float(iterations[0]["p50_ns"]) >= 2e6, f"an iteration sleeps 2 ms: {iterations}")
    total = sum(n for (_, call), n in scene.calls(cwd=directory).items() if call == "MPI_Allreduce")
    same(sum(int(row["own_calls"]) for row in rows.values()), total, "calls over all regions, and in all")


@case(ranks=2)
def a_fortran_program_marks_its_regions_by_the_module(scene):
    program = scene.compile("regions_fortran.f90")
    scene.mpirun(2, program, profiled=None, cwd=scene.subdir("plain")).succeeded()
    directory = scene.subdir("marked")

    same(scene.mpirun(2, program, cwd=directory).succeeded().err, "", "what is said")

    rows, iterations = regions_of(scene, directory)
    same({name: int(row["own_calls"]) for name, row in rows.items()}, {"": 0, "solve": 0, "solve/halo": 40}, "calls: the Barrier was not recorded")
    same([row["iterations"] for row in iterations], ["20"], "iterations of each rank")
    check("grid=512x512" in scene.run_report(cwd=directory).succeeded().out, "the label")


@case(ranks=2)
def users_of_ipm_keep_their_regions(scene):
    program = scene.compile("regions.c")
    for compat, expected in (("ipm", {name: 2 * n for name, n in CALLS.items()}), ("none", {"": 2 * sum(CALLS.values())})):
        directory = scene.subdir(compat)
        scene.mpirun(2, [program, "pcontrol"], env={"MPIPROF_COMPAT": compat}, cwd=directory).succeeded()
        if compat == "none":  # then MPI_Pcontrol(1, "solve") says "resume"
            same(set(regions_of(scene, directory)[0]), {""}, "regions without MPIPROF_COMPAT")
            continue
        rows, _ = regions_of(scene, directory)
        same({name: int(row["own_calls"]) for name, row in rows.items()}, expected, f"calls with {compat}")


@case(ranks=2, attempts=3)
def window_in_time_records_what_lies_inside(scene):
    program = scene.compile("window.c")
    env = {"MPIPROF_BEGIN_TIME": "0.4", "MPIPROF_END_TIME": "0.9", "MPIPROF_RANKS": "1"}
    said = json.loads(scene.mpirun(2, [program, "0.4", "0.9"], env=env).succeeded().out)
    calls = scene.calls()
    same({rank for rank, _ in calls}, {1}, "ranks with a profile")
    recorded = calls[1, "MPI_Allreduce"]
    # The edges are kept by a helper thread, on a machine that may be busy.
    check(said["inside"] * 0.5 <= recorded <= said["inside"] * 1.5, f"{recorded} calls recorded, {said} made")
    check(recorded < said["all"] * 0.8, f"{recorded} calls recorded of {said}")
    rank, = json.loads(scene.run_report("export", "-f", "json").succeeded().out)["ranks"]
    recorded_s = (rank["elapsed_ns"] - rank["paused_ns"]) / 1e9
    check(0.25 <= recorded_s <= 1, f"half a second was recorded, the profile says {recorded_s}")


@case(ranks=1)
def warm_up_before_the_window_has_no_iterations(scene):
    program = scene.compile("iterations.c")  # of 1 to 4.2 ms
    env = {"MPIPROF_BEGIN_TIME": "0.3"}
    lengths = [float(line) for line in scene.mpirun(1, [program, 400], env=env).succeeded().out.split()]
    began = [sum(lengths[:i]) for i in range(len(lengths))]
    inside = sum(1 for moment in began if moment >= 0.3)
    row = regions_of(scene, scene.dir)[1][0]
    check(0 < float(row["iterations"]) < 400 and abs(float(row["iterations"]) - inside) <= 150, f"{row['iterations']} of {inside}")


@case(ranks=1)
def a_pause_counts_while_it_lasts(scene):
    env = {"MPIPROF_END_TIME": "0.1", "MPIPROF_PERIOD": "0.1"}
    scene.mpirun(1, [acts.program(scene), "0", "end:pause=1000", "end:kill=9"], env=env)
    rank = acts.ranks_of(scene, scene.dir)[0]
    check(rank["paused_ns"] > 0.5e9, f"killed a second after MPIPROF_END_TIME: {rank}")
    check(rank["paused_ns"] <= rank["elapsed_ns"], f"paused for longer than it ran: {rank}")


def percentile(values, share):
    """As numpy has it: between the two neighbours."""
    values, at = sorted(values), share * (len(values) - 1)
    low = int(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


@case(ranks=2, attempts=3)
def percentiles_of_iterations_are_within_five_percent_of_the_truth(scene):
    """And the rows of PyTorch's benchmark are made of them."""
    program = scene.compile("iterations.c")
    count = 400
    lengths = [float(line) for line in scene.mpirun(2, [program, count]).succeeded().out.split()]
    same(len(lengths), 2 * count, "iterations")

    row = regions_of(scene, scene.dir)[1][0]
    ddp = scene.run_report("text", "--layout", "ddp").succeeded().out

    same(float(row["iterations"]), count, "iterations")
    for share in (50, 75, 90, 95):
        truth, found = percentile(lengths, share / 100), float(row[f"p{share}_ns"]) / 1e9
        check(abs(found - truth) <= 0.05 * truth, f"p{share}: {found} s, measured {truth} s")
    lines = ddp.splitlines()
    same(lines[:3], [f"Benchmark: {program.name} with batch size 32", "", " " * 22 + "      sec/iter    ex/sec" * 4], "head")
    check(re.fullmatch(r"   2 GPUs --    1M/2G:(  p\d\d:  \d\.\d{3}s  [ \d]{6}/s){4}", lines[3]), f"row: {lines[3]!r}")
    rates = [int(rate) for rate in re.findall(r"(\d+)/s", lines[3])]
    same(rates, [int(32 / (float(row[f"p{share}_ns"]) / 1e9)) for share in (50, 75, 90, 95)], "examples per second")
