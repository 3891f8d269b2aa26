"""Communication over time: when each rank was inside MPI."""

import json
import re

from acts import ranks_of
from harness import case, check, execute, same


def tables_of(scene, *arguments):
    found = json.loads(scene.run_report("time", "--format", "json", *arguments).succeeded().out)
    return {name: rows for name, rows in found.items() if isinstance(rows, list)}


def share(series, begin, end):
    part = series[int(begin * len(series)):int(end * len(series))]
    return sum(part) / len(part)


@case(ranks=3, attempts=3)
def time_shows_the_phases_of_a_program(scene):
    program = scene.compile("phases.c")
    scene.mpirun(3, program).succeeded()
    tables = tables_of(scene)
    rows = scene.export_rows()
    in_mpi = sum(int(row["time_ns"] or 0) for row in rows)
    shown = sum(float(row["mpi_ns"]) for row in tables["periods"])
    check(abs(shown - in_mpi) < 1e-3 * in_mpi + 1000, f"time over all periods {shown}, in all {in_mpi}")
    messages = sum(int(row["bytes"] or 0) for row in rows)
    same(round(sum(float(row["message_bytes"]) for row in tables["periods"])), messages, "bytes over all periods, and in all")
    lanes = {int(row["rank"]): row["share_by_period"] for row in tables["ranks"]}
    same(sorted(lanes), [0, 1, 2], "ranks")
    for rank, lane in lanes.items():
        check(share(lane, 0, 0.25) < 0.2, f"rank {rank} computes at first: {lane}")
        check(share(lane, 0.4, 0.6) > 0.5, f"rank {rank} reduces in the middle: {lane}")
    check(share(lanes[0], 0.75, 0.95) > 0.8, f"rank 0 waits at the end: {lanes[0]}")
    check(share(lanes[1], 0.75, 0.95) < 0.2, f"rank 1 computes at the end: {lanes[1]}")
    same([int(row["rank"]) for row in tables_of(scene, "--rank", "1")["ranks"]], [1], "the rank that was asked for")


@case(ranks=2, attempts=3)
def time_tells_pauses_from_computing(scene):
    scene.mpirun(2, [scene.compile("phases.c"), "0.4", "off"]).succeeded()
    tables = tables_of(scene)
    for lane in (row["share_by_period"] for row in tables["ranks"]):
        same(set(lane[int(0.05 * len(lane)):int(0.2 * len(lane))]), {None}, f"recording was off at first: {lane}")
        check(None not in lane[int(0.4 * len(lane)):], f"and on afterwards: {lane}")
    same(tables["periods"][3]["mpi_share"], None, "a period that was not recorded")
    off = sum(row["not_recorded_ns"] for row in tables["periods"])
    paused = sum(rank["paused_ns"] for rank in ranks_of(scene, scene.dir).values())
    check(paused >= 0.8e9 and abs(off - paused) < 1e-3 * paused, f"not recorded in all periods {off}, paused in all {paused}")
    check("-----" in scene.run_report("time").succeeded().out, "the map says so")


@case(mpis=("openmpi",), ranks=3, attempts=3)
def time_of_a_killed_job_has_the_call_that_hung(scene):
    program = scene.compile("phases.c")
    launcher = scene.launcher(3) + ["bash", "-c", f"timeout -s KILL 4 {program} 60"]
    execute(launcher, cwd=scene.dir, env=scene.environment({"LD_PRELOAD": scene.preload(), "MPIPROF_STORE": "mapped"}))
    lanes = {int(row["rank"]): row["share_by_period"] for row in tables_of(scene)["ranks"]}
    same(sorted(lanes), [0, 1, 2], "ranks")
    for rank in (0, 2):
        check(share(lanes[rank], 0.6, 0.95) > 0.8, f"rank {rank} was in a Barrier that never returned: {lanes[rank]}")
    check(share(lanes[1], 0.6, 0.95) < 0.2, f"rank 1 was outside MPI: {lanes[1]}")


@case(ranks=2)
def plot_of_time_has_the_numbers_of_its_table(scene):
    scene.mpirun(2, [scene.compile("phases.c"), "0.2"]).succeeded()
    scene.run_report("plot", "time", f"a={scene.dir}", f"b={scene.dir}", "-o", scene.dir / "time.svg").succeeded()
    marks = re.findall(r"<title>a at ([0-9.e+-]+): ([0-9.e+-]+)</title>", (scene.dir / "time.svg").read_text())
    drawn = [(float(at), float(share)) for at, share in marks]
    shown = [(float(row["from_ns"] + row["to_ns"]) / 2e9, row["mpi_share"]) for row in tables_of(scene)["periods"]]
    shown = [(at, share) for at, share in shown if share is not None]
    check(len(drawn) == len(shown) > 10, f"{len(drawn)} points, {len(shown)} periods")
    for (x, y), (at, share) in zip(drawn, shown):
        check(abs(x - at) <= 1e-5 * at + 1e-8 and abs(y - share) <= 1e-5 * share + 1e-9, f"drawn {x}, {y}; in the table {at}, {share}")
