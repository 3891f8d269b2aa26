"""Who came last to collectives, and how long the others waited, against what the program measured itself."""

import json
import re

from cases.wrappers import script
from harness import Skip, case, check, execute, same
from tables import Tables

# Rank 0 is on this node; the others are on one whose clock is 5,000 s ahead.
TWO_NODES = """#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] && exec "$@"
exec unshare --time --monotonic 5000 --uts sh -c 'hostname nodeb; exec "$@"' sh "$@"
"""


def compared(scene):
    found = json.loads(scene.run_report("arrivals", "--format", "json").succeeded().out)
    return {row["call"]: row for row in found["arrivals"]}, found["last"]


def measured(out):
    waited = {name: (int(wait), int(inside)) for name, wait, inside in re.findall(r"(MPI_\w+) waited (\d+) inside (\d+)", out)}
    of_allreduce = next(line for line in out.splitlines() if line.startswith("MPI_Allreduce"))
    return waited, {int(rank): int(times) for rank, times in re.findall(r"last (\d+) (\d+) times", of_allreduce)}


@case(ranks=3)
def waiting_in_collectives_is_what_the_program_measured(scene):
    ran = scene.mpirun(3, [scene.compile("arrivals.c"), 100, 1]).succeeded()
    waited, last = measured(ran.out)
    calls, ranks = compared(scene)
    same(sorted(waited), ["MPI_Allreduce", "MPI_Barrier", "MPI_Bcast", "MPI_Reduce"], "calls that were measured")
    for name, (wait, inside) in waited.items():
        found = calls[name]
        same((found["calls"], found["compared"]), (100, 100), f"{name} is kept")
        check(not found["error_ns"], f"{name}: all calls are compared, so there is no error: {found}")
        # Between the program's look at the clock and ours a rank may lose its processor now and then.
        check(abs(found["waiting_ns"] - wait) < 0.05 * wait + 1e6, f"{name} waited {wait}: {found}")
        if name == "MPI_Reduce":  # what others than the root do there is not known
            continue
        check(abs(found["waiting_ns"] + found["moving_ns"] - inside) < 0.05 * inside + 1e6, f"{name} took {inside}: {found}")
    most = next(row for row in ranks if row["call"] == "MPI_Allreduce")
    # It is the program's late rank, unless others kept a rank from its processor: the program's own clocks say who it was.
    check(last[most["rank"]] >= max(last.values()) - 5, f"the rank that comes last most often: {most}, {last}")
    check(abs(most["times"] - last[most["rank"]]) <= 5, f"it came last {last[most['rank']]} times: {most}")


@case(ranks=2, attempts=2)  # what is stated holds 19 times in 20
def waiting_in_a_sample_of_calls_stands_for_all(scene):
    ran = scene.mpirun(2, [scene.compile("arrivals.c"), 1000, 1]).succeeded()
    waited, _ = measured(ran.out)
    calls, _ = compared(scene)
    for name, (wait, _) in waited.items():
        found = calls[name]
        check(60 <= found["compared"] <= 512, f"{name}: some calls are compared: {found}")
        # Stated 19 times in 20; three calls of both libraries are checked, and now and then a rank loses its processor in one.
        check(abs(found["waiting_ns"] - wait) < 2 * found["error_ns"] + 0.08 * wait, f"{name} waited {wait}: {found}")


@case(ranks=2)
def collectives_are_counted_alike_whatever_is_recorded(scene):
    """One rank pauses recording now and then: what both have kept is compared, and nobody comes out of step."""
    scene.mpirun(2, [scene.compile("arrivals_paused.c")]).succeeded()
    calls, ranks = compared(scene)
    same(calls["MPI_Barrier"]["compared"], 20, "Barriers that both have recorded")
    last = {row["rank"]: row["times"] for row in ranks if row["call"] == "MPI_Barrier"}
    check(last.get(1, 0) >= 15, f"rank 1 comes 2 ms late to each of 20, where nobody takes the other one's processor: {ranks}")
    same([Tables(profile).in_order_on_world() for profile in scene.profiles()], [60, 60], "calls in order, without those of callbacks")


@case(ranks=3)
def clocks_of_two_nodes_are_lined_up_by_the_program_s_own_calls(scene):
    for tool in ("unshare", "hostname"):
        scene.tool(tool)
    if execute(["unshare", "--time", "--monotonic", "5000", "--uts", "true"], timeout=20).code:
        raise Skip("no namespace with a clock of its own can be made here")
    wrap = script(scene, "on_two_nodes", TWO_NODES)
    ran = scene.mpirun(3, [wrap, scene.compile("arrivals.c"), 120, 1]).succeeded()
    waited, last = measured(ran.out)
    calls, ranks = compared(scene)
    text = scene.run_report("arrivals").succeeded().out
    check("clocks of 2 nodes aligned by these collectives" in text, f"the screen says so: {text}")
    for name, (wait, _) in waited.items():
        found = calls[name]
        check(found["compared"] == 120 and found["error_ns"], f"{name} is kept, and the clocks leave an error: {found}")
        check(abs(found["waiting_ns"] - wait) < 0.05 * wait + found["error_ns"] + 1e6, f"{name} waited {wait}: {found}")
    most = next(row for row in ranks if row["call"] == "MPI_Allreduce")
    same((most["rank"], most["host"]), (1, "nodeb"), "the rank that comes last most often")
    check(abs(most["times"] - last[1]) <= 10, f"it came last {last[1]} times: {most}")
