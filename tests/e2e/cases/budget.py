"""Where the time of a rank went, against what the program measured itself."""

import json
import re

from causes import cores, most_ranks
from harness import Skip, case, check, same

parts_inside = ("waiting_ns", "moving_ns", "waiting_or_moving_ns", "other_ns")


def budgets(scene):
    found = json.loads(scene.run_report("budget", "--by", "rank", "--format", "json").succeeded().out)
    return {row["rank"]: {name: value or 0 for name, value in row.items() if name.endswith("_ns")} for row in found["ranks"]}


@case(ranks=2, attempts=3)
def budget_has_the_parts_that_the_program_measured(scene):
    ran = scene.mpirun(2, [scene.compile("budget.c"), 100]).succeeded()
    said = {int(rank): tuple(map(int, rest)) for rank, *rest in
            re.findall(r"rank (\d+) all (\d+) outside (\d+) inside (\d+)", ran.out)}
    same(sorted(said), [0, 1], "ranks that said something")
    found = budgets(scene)
    near = lambda x, y, all: abs(x - y) < 0.01 * all + 5e6
    for rank, (all, outside, inside) in said.items():
        budget = found[rank]
        total = budget.pop("total_ns")
        check(abs(sum(budget.values()) - total) < 1e-6 * total, f"rank {rank}: the parts add up: {budget}, {total}")
        in_mpi = sum(budget.get(part, 0) for part in parts_inside)
        check(near(in_mpi, inside, all), f"rank {rank} was in MPI for {inside}: {budget}")
        out = sum(budget.get(part, 0) for part in ("computing_ns", "blocked_ns", "processor_ns"))
        check(near(out, outside, all), f"rank {rank} was outside for {outside}: {budget}")
        check(budget["init_ns"] > 0 and budget["before_init_ns"] > 0, f"rank {rank} began: {budget}")
    # Who loses its processor inside a call moves data for longer; arrivals.py looks at each call.
    waited, last = said[0][2], said[1][2]
    check(0.4 * (waited - last) <= found[0]["waiting_ns"] <= 1.01 * waited, f"rank 0 waits for rank 1: {found}, {said}")
    check(found[0]["waiting_ns"] > 2 * found[1]["waiting_ns"], f"and rank 1 hardly waits: {found}")


def processors_of_a_crowd(scene, way):
    """Twice as many ranks as processors compute: what they waited for one outside MPI, as they measured it themselves."""
    ranks = 2 * cores
    if ranks > most_ranks: raise Skip("too many processors to crowd")
    ran = scene.mpirun(ranks, [scene.compile("processors.c"), way, 150])
    if ran.code == 77: raise Skip("this kernel keeps no account of waiting for a processor")
    measured = re.findall(r"rank (\d+) outside (\d+) of (\d+) inside", ran.succeeded().out)
    same(len(measured), ranks, "ranks that said something")
    waited = {int(rank): int(ms) * 1e6 for rank, ms, _ in measured}
    computed = {int(rank): (int(all) - int(ms)) * 1e6 for rank, ms, all in measured}
    found = budgets(scene)
    for what, truth, part in (("waited for a processor", waited, "processor_ns"), ("computed", computed, "computing_ns")):
        said = {rank: found[rank][part] for rank in truth}
        wrong = sum(abs(said[rank] - truth[rank]) for rank in truth) / sum(truth.values())
        check(wrong < 0.15, f"outside MPI ranks {what} for {truth}, and the report says {said}")


@case(ranks=4, attempts=3)
def budget_of_a_crowd_has_its_wait_for_processors_apart_from_its_wait_in_mpi(scene):
    processors_of_a_crowd(scene, "together")


@case(ranks=4, attempts=3, tier="full")
def budget_of_a_crowded_chain_has_its_wait_for_processors_apart_from_its_wait_in_mpi(scene):
    processors_of_a_crowd(scene, "in turn")
