"""Placement: the cores that a launcher gave each rank, what is wrong with them, and the settings of others."""

import json
import os
import time

from cases.communicators import tables
from causes import busy_seconds, cores, others_on_the_cores, own_seconds
from harness import Skip, case, check, same


def cores_of_this_process():
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise Skip("one core: nothing to bind to")
    return cores


def placement(scene, cwd):
    found = tables(scene.run_report("placement", "--format", "csv", cwd=cwd).succeeded().out)
    ranks = {int(row["rank"]): row for row in found["placement"]}
    return ranks, {row["rule"]: row["text"] for row in found["findings"]}, found["settings"]


@case(mpis=("openmpi",), ranks=2)
def bound_ranks_have_their_cores_and_unbound_ones_are_said(scene):
    cores = cores_of_this_process()
    ring = scene.compile("ring.c")
    bound, unbound = scene.subdir("bound"), scene.subdir("unbound")
    ran = scene.alone([scene.tool("mpirun.openmpi"), "--bind-to", "core", "--map-by", "core", "-n", "2", ring, 100], cwd=bound)
    if ran.code != 0 and "bind" in ran.err:
        raise Skip("Open MPI cannot bind here")
    ran.succeeded()
    ranks, rules, _ = placement(scene, bound)
    same([ranks[0]["cores"], ranks[1]["cores"]], ["1", "1"], "cores of bound ranks")
    check(ranks[0]["cpus"] != ranks[1]["cpus"], f"both are on core {ranks[0]['cpus']}")
    same([ranks[0]["sharing"], ranks[1]["sharing"]], ["own", "own"], "sharing")
    for rule in ("unbound", "masks", "too-many"):
        check(rule not in rules, f"bound ranks: {rules}")
    for rank in ranks.values():
        check(0 < float(rank["cores_busy"]) < 1.1, f"one thread on one core kept {rank['cores_busy']} busy")

    scene.alone([scene.tool("mpirun.openmpi"), "--bind-to", "none", "-n", "2", ring, 100], cwd=unbound).succeeded()
    ranks, rules, _ = placement(scene, unbound)
    same(ranks[0]["cores"], str(len(cores)), "cores of unbound ranks")
    check("--bind-to core" in rules.get("unbound", ""), f"unbound ranks: {rules}")


def foreign_load(found):
    """What others used, in cores; 0: nothing is said of it."""
    figures = {row["figure"]: row["value"] for row in found["figures"] if row["rule"] == "foreign-load"}
    return figures.get("cores_of_others", 0)


def load_of_others(scene, words):
    """What the summary says of it, and what others really used: the whole machine's work less that of what was started here."""
    busy, own, began = busy_seconds(), own_seconds(), time.monotonic()
    scene.mpirun(2, words).succeeded()
    really = (busy_seconds() - busy - (own_seconds() - own)) / (time.monotonic() - began)
    return json.loads(scene.run_report("summary", "--format", "json", cwd=scene.dir).succeeded().out), really


@case(ranks=2)
def other_processes_on_the_cores_are_named_first(scene):
    with others_on_the_cores(cores):
        found, really = load_of_others(scene, [scene.compile("causes.c", "-pthread"), "slow_rank", 100])
    same(found["verdict"]["rule"], "foreign-load", f"what the report begins with: {found['verdict']['text']}")
    check(found["verdict"]["text"].startswith("Disturbed measurement: other processes used "), found["verdict"]["text"])
    check(abs(foreign_load(found) - really) < 0.25 * cores, f"{foreign_load(found)} cores, of which others really used {really}")


@case(mpis=("openmpi",), ranks=2)
def workers_of_a_rank_are_no_foreign_load(scene):
    """As a data loader starts them: their CPU time is the program's."""
    program = """import mpi4py.MPI as MPI, multiprocessing, time
def work():
    until = time.monotonic() + 3
    while time.monotonic() < until: pass
workers = [multiprocessing.get_context("fork").Process(target=work) for _ in range(2)]
for worker in workers: worker.start()
time.sleep(3.2)
MPI.COMM_WORLD.Barrier()
"""
    found, really = load_of_others(scene, [scene.python_with("mpi4py"), "-c", program])
    check(foreign_load(found) < really + 0.25 * cores, f"{foreign_load(found)} cores, of which others really used {really}")


@case(ranks=2)
def overlapping_cores_and_differing_settings_are_said(scene):
    first, second = cores_of_this_process()[:2]
    scene.tool("taskset")
    program = [f'''rank=${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}; cores={first}; export OMP_NUM_THREADS=1
               if [ "$rank" = 1 ]; then cores={first},{second}; OMP_NUM_THREADS=2; fi
               exec taskset -c $cores {scene.compile("ring.c")} 100''']
    scene.mpirun(2, ["sh", "-c", *program]).succeeded()
    ranks, rules, settings = placement(scene, scene.dir)
    same([ranks[0]["cores"], ranks[1]["cores"]], ["1", "2"], "cores")
    same(ranks[0]["cpus"], str(first), "cores of rank 0")
    check("masks" in rules and f"rank 0: {first}," in rules["masks"], f"overlapping cores: {rules}")
    threads = {row["value"]: row["which"] for row in settings if row["name"] == "OMP_NUM_THREADS"}
    same(threads, {"1": "all others", "2": "1"}, "OMP_NUM_THREADS")
    check("[placement]" in scene.run_report("summary").succeeded().out, "the summary does not mention it")


def processor_times(scene, way, milliseconds=600):
    """(ns on a processor, ns waited for one, elapsed ns) over both ranks of two on one core."""
    cwd = scene.subdir(way)
    core = cores_of_this_process()[0]
    scene.mpirun(2, [scene.tool("taskset"), "-c", core, scene.compile("busy.c"), way, milliseconds], cwd=cwd).succeeded()
    job = json.loads(scene.run_report("export", "-f", "json", cwd=cwd).succeeded().out)
    usages = [rank["usage"] for rank in job["ranks"]]
    if any("ran_ns" not in usage for usage in usages): raise Skip("the kernel keeps no schedstat of threads")
    elapsed = max(rank["elapsed_ns"] for rank in job["ranks"])
    return sum(usage["ran_ns"] for usage in usages), sum(usage["processor_wait_ns"] for usage in usages), elapsed


@case(ranks=2)
def time_waited_for_a_processor_is_the_kernels(scene):
    ran, waited, elapsed = processor_times(scene, "busy")
    check(ran <= 1.05 * elapsed, f"two ranks on one core ran {ran} ns of {elapsed}")
    check(waited >= 0.9 * elapsed, f"one of them waited at any time: {waited} ns of {elapsed}")
    _, slept, _ = processor_times(scene, "sleep")
    check(slept < waited / 2, f"ranks that sleep wait for no processor: {slept} ns")
    screen = scene.run_report("ranks", "--width", "200", cwd=scene.dir / "busy").succeeded().out
    check("CPU WAIT" in screen, screen)
