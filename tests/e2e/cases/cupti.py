"""Times of kernels by CUPTI, against doubles of NCCL, of CUDA's driver and of CUPTI (tests/gpu): its windows and buffers, other clients
of it, and what a kill costs."""

import glob
import json
import os

from cases.gpu import IDLE, SOURCES, by_call, cupti, doubles, missing, not_timed, run, traced
from cases.nccl import torchrun
from harness import ROOT, Skip, case, check, same

LONE = {("ncclAllReduce", 1): (9, 9 * 4000, 9 * 3000, 3000, 3000), ("ncclAllGather", 1): (3, 3 * 800, 3 * 2200, 2200, 2200),
        ("ncclBcast", 1): (2, 140, 2 * 2017, 2017, 2017)}


@case(mpis=(), ranks=1)
def gpu_times_by_cupti_are_those_of_the_kernels(scene):
    for how, name, env in (("linked", "linked", {}), ("fetched", "fetched", {}), ("linked", "reversed", {"FAKE_CUPTI_KERNELS_FIRST": 1})):
        tables = traced(scene, "lone", how, scene.subdir(name), torchrun(0, 2, **env))
        same(by_call(tables), LONE, name)
        same(({t.source for t in tables.times()}, sum(t.kernels for t in tables.times())), ({"cupti"}, 14), "sources, kernels")
        same(sum(sum(t.durations.values()) for t in tables.times()), 14, "times in the histograms")
        source, enqueued, times = tables.sequences()[1]
        same((source, enqueued, times[0], times[13]), ("cupti", 14, 3000, 3000), "the sequence")
        same(tables.work(), {("nccl", 0): (14, 0, 9 * 3000 + 3 * 2200 + 2 * 2017, 0, 0)}, "what the GPU did")
        same(tables.facts()["gpu_times"], ["CUPTI 13.0"], "what the profile says of their source")


@case(mpis=(), ranks=1)
def kernels_of_groups_are_those_of_their_ends(scene):
    tables = traced(scene, "groups", directory=scene.subdir("groups"))
    same(by_call(tables), {("ncclGroupEnd", 1): (2, 3 * 4000 + 10 * 4000, 7000 + 14000, 7000, 14000),
                           ("ncclAllReduce", 1): (1, 4000, 3000, 3000, 3000)}, "times")
    same({(t.call, t.bytes): t.kernels for t in tables.times()}, {("ncclGroupEnd", 12000): 1, ("ncclGroupEnd", 40000): 2, ("ncclAllReduce", 4000): 1},
         "kernels")
    tables = traced(scene, "gpus", directory=scene.subdir("gpus"))
    same(by_call(tables), {("ncclAllReduce", 1): (2, 8000, 6000, 3000, 3000), ("ncclAllGather", 2): (2, 16000, 8000, 4000, 4000)}, "a group over two GPUs")
    same(tables.work(), {("nccl", device): (2, 0, ns, 0, 0) for device, ns in enumerate((6000, 8000))}, "what the GPUs did")


@case(mpis=(), ranks=1)
def where_cupti_cannot_be_had_events_are_taken_and_the_reason_is_told(scene):
    for name, env, reason in (("busy", {"FAKE_CUPTI_SUBSCRIBE": 39}, "events: CUPTI is in use by another tool (39)"),
                              ("new", {"FAKE_CUPTI_SUBSCRIBE": 15}, "events: CUPTI is too new for the driver (15)"),
                              ("refused", {"FAKE_CUPTI_SUBSCRIBE": 999}, "events: CUPTI refuses (999)"),
                              ("old", {"FAKE_CUPTI_VERSION": 12}, "events: CUPTI is too old (12)"),
                              ("off", {"MPIPROF_CUPTI": "off"}, "events at kernel launches"),
                              ("default", {"MPIPROF_CUPTI": ""}, "events at kernel launches"),
                              ("none", {"FAKE_CUDA_VERSION": 10020}, "events: there is no CUPTI")):
        tables = traced(scene, "lone", directory=scene.subdir(name), env=torchrun(0, 2, **env))
        same(tables.facts()["gpu_times"], [reason], name)
        same(by_call(tables)["ncclAllReduce", 1], (9, 9 * 4000, 9 * 3000 + 6 * IDLE, 3000, 3000 + IDLE), f"{name}: times")
        same((tables.work(), {t.source for t in tables.times()}), ({}, {"launches"}), name)


@case(mpis=(), ranks=1)
def replays_of_graphs_are_counted_by_their_kernels(scene):
    tables = traced(scene, "captured")
    replays, = [t for t in tables.times() if t.flags == 1]
    same((replays.call, replays.operations, replays.kernels, replays.ns, replays.communicator), ("ncclAllReduce", 20, 20, 20 * 3000, 0), "replays")
    same(sum(t.operations for t in tables.times() if t.flags == 0), 5, "operations outside the graph")
    same((tables.work()["nccl", 0].in_graphs, tables.work()["graphs", 0].count), (20, 5), "kernels in graphs, launches of graphs")
    same(missing(tables), not_timed(captured=4), "what is not timed")


@case(mpis=(), ranks=1)
def communication_hidden_behind_computing_is_told_apart(scene):
    tables = traced(scene, "overlap")
    work = tables.work()
    same(work["nccl", 0], (7, 0, 7 * 3000, 3 * 2500, 0), "NCCL's kernels: 1500 to 4500 beside 500 to 2000 and 2500 to 6500, and alone")
    same((work["kernels", 0], work["to device", 0], work["to host", 0]), ((6, 0, 3 * 5500, 0, 0), (1, 700, 700, 0, 0), (1, 900, 900, 0, 0)), "the rest")
    # A first operation, 700 ns of a copy with 500 before it, and three rounds of 10 us with kernels from 0.5 to 6.5 and 7 to 10.
    same(tables.busy(), {("recorded", 0): (3000 + 1200 + 3 * 10000, 3000 + 3 * 9000), ("nccl", 0): (7 * 3000, 3 * 2500)}, "how busy it was")


@case(mpis=(), ranks=1)
def report_splits_the_time_of_each_gpu_into_parts_that_add_up(scene):
    for rank in range(2):
        directory = scene.subdir(f"rank{rank}")
        traced(scene, "overlap", directory=directory, env=torchrun(rank, 2))
        for file in directory.glob("mpi_profile.*"):
            file.rename(scene.dir / file.name)
    rows = json.loads(scene.run_report("nccl", "--format", "json").succeeded().out)["gpu_busy"]
    same([(row["rank"], row["recorded_ns"]) for row in rows], [(0, 34200), (1, 34200)], "time recorded")
    for row in rows:
        parts = [row[f"{part}_share"] for part in ("computing", "hidden", "exposed", "idle")]
        check(abs(sum(parts) - 1) < 1e-9, f"parts {parts}")
        same([round(part * 34200) for part in parts], [9000, 7500, 13500, 4200], f"parts of rank {row['rank']}")
    check("[gpu-idle]" not in scene.run_report("summary").succeeded().out, "12% idle is said to be much")


@case(mpis=(), ranks=1)
def cupti_is_on_inside_the_window_alone(scene):
    tables = traced(scene, "window", env={"MPIPROF_CUPTI": "window", "MPIPROF_BEGIN_TIME": 0.3})
    same([(t.call, t.source, t.operations, t.ns) for t in tables.times()], [("ncclAllReduce", "cupti", 7, 7 * 3000)], "times")
    same(tables.sequences()[1][1], 12, "operations in the sequence")
    same(tables.work()["nccl", 0].count, 7, "kernels")


@case(mpis=(), ranks=1)
def a_window_that_ends_has_all_of_its_kernels(scene):
    tables = traced(scene, "tail", env={"MPIPROF_CUPTI": "window", "MPIPROF_END_TIME": 1})
    same([(t.call, t.source, t.operations, t.ns) for t in tables.times()], [("ncclAllReduce", "cupti", 5, 5 * 3000)], "times")
    check(missing(tables) is None, f"something was not timed: {missing(tables)}")


@case(mpis=(), ranks=1)
def cupti_takes_a_bounded_part_of_a_run(scene):
    """Of all of it, of a window without an end, and of a sample."""
    for name, env, first in (("on", {"MPIPROF_CUPTI": "on", "MPIPROF_CUPTI_TIME": 0.3}, "CUPTI 13.0"),
                             ("window", {"MPIPROF_CUPTI": "window", "MPIPROF_BEGIN_TIME": 0.01, "MPIPROF_CUPTI_TIME": 0.3}, "CUPTI 13.0"),
                             ("sample", {"MPIPROF_CUPTI": "sample", "MPIPROF_CUPTI_TIME": 0.6}, "events at kernel launches")):
        tables = traced(scene, "paced", directory=scene.subdir(name), env=env)
        found = {t.source: (t.operations, t.ns) for t in tables.times()}
        check(set(found) == {"cupti", "launches"} and found["cupti"][1] == found["cupti"][0] * 3000, f"{name}: {found}")
        sources = tables.facts()["gpu_times"]
        same((sources[0], sources[-1], "CUPTI 13.0" in sources), (first, "events at kernel launches, after a time of CUPTI", True), f"{name}: {sources}")
        same(tables.work()["nccl", 0].count, found["cupti"][0], f"{name}: kernels")


@case(mpis=(), ranks=1)
def cupti_that_may_deadlock_then_is_not_told_to_record_no_more_kernels(scene):
    """Before 13.0 Update 1; the double ends a process that does so. Kernels are counted to the end."""
    tables = traced(scene, "paced", env={"MPIPROF_CUPTI": "sample", "MPIPROF_CUPTI_TIME": 0.6, "FAKE_CUPTI_VERSION": 26})
    found = {t.source: t.operations for t in tables.times()}
    check(set(found) == {"cupti", "launches"} and "CUPTI, API version 26" in tables.facts()["gpu_times"], f"{found}, {tables.facts()}")
    check(tables.work()["nccl", 0].count > found["cupti"], f"kernels behind the sample: {tables.work()}")
    tables = traced(scene, "lone", directory=scene.subdir("whole"), env={**torchrun(0, 2), "FAKE_CUPTI_VERSION": 26})
    same(by_call(tables), LONE, "times of a run that ends before")


@case(mpis=(), ranks=1)
def cupti_is_left_to_a_tool_that_cuda_is_told_to_load(scene):
    tables = traced(scene, "lone", env=torchrun(0, 2, CUDA_INJECTION64_PATH="/opt/tool/libtool.so"))
    same(({t.source for t in tables.times()}, tables.facts()["gpu_times"]), ({"launches"}, ["events: CUDA_INJECTION64_PATH names another tool"]), "source")


@case(mpis=(), ranks=1)
def clients_of_a_cupti_that_we_do_not_know_are_served_by_it(scene):
    for how, name in (("client_newer", "libcupti.so.14"), ("client_own", "libprofiler.so")):
        for i, settings in enumerate(({}, {"MPIPROF_CUPTI": "off"}, {"MPIPROF_GPU": "off"}, {"MPIPROF_CUPTI": "on"})):
            path = ":".join(map(str, (*doubles(scene), cupti(scene, name))))
            directory = scene.subdir(f"{how}.{i}")
            run(scene, "first", how, directory, {"LD_LIBRARY_PATH": path, **settings})  # which fails if it misses a kernel


@case(mpis=(), ranks=1)
def a_kill_costs_what_came_since_cupti_was_asked_last(scene):
    time, = traced(scene, "killed_slowly", code=-9).times()
    check(6 <= time.operations <= 12 and time.ns == 3000 * time.operations, f"operations {time.operations}, {time.ns} ns")


@case(mpis=(), ranks=1)
def threads_children_and_nonblocking_communicators_with_cupti(scene):
    times = by_call(traced(scene, "threads", directory=scene.subdir("threads")))
    same(times, {("ncclAllReduce", i): (100, 400000, 300000, 3000, 3000) for i in range(1, 5)}, "operations of each thread's communicator")
    time, = traced(scene, "fork", directory=scene.subdir("fork")).times()
    same((time.operations, time.ns, time.kernels), (2, 6000, 2), "beside forked children")
    tables = traced(scene, "nonblocking", directory=scene.subdir("nonblocking"))
    same(([(t.operations, t.kernels) for t in tables.times()], tables.work()["nccl", 0].count), ([(1, 1)], 7), "timed, kernels in all")


@case(mpis=(), ranks=1)
def what_cupti_handed_over_survives_kill_9(scene):
    time, = traced(scene, "killed_later", code=-9).times()
    check(700 <= time.operations <= 730 and time.ns == 3000 * time.operations, f"operations {time.operations}, {time.ns} ns")


@case(mpis=(), ranks=1)
def records_that_cupti_dropped_are_told(scene):
    same(traced(scene, "lone", env={"FAKE_CUPTI_DROPPED": 23}).facts()["gpu_records_dropped"], ["23"], "dropped")


@case(mpis=(), ranks=1)
def cupti_always_gets_a_buffer(scene):
    tables = traced(scene, "lone", env={"FAKE_CUPTI_HOARD": 300})  # the double ends the process if there is none
    same((tables.times(), missing(tables)), ([], not_timed(unfinished=14)),
         "what was written where nobody reads it")
    check(int(tables.facts()["gpu_records_dropped"][-1]) > 0, "records that were dropped")


def beside_another_client(scene, how):
    tables = traced(scene, "profiler", how)  # which fails if it misses a kernel
    found = {t.source: (t.operations, t.ns) for t in tables.times()}
    same(found, {"cupti": (9, 9 * 3000), "launches": (5, 5 * (3000 + IDLE))}, "operations by source")
    same(tables.facts()["gpu_times"], ["CUPTI 13.0", "events: CUPTI is in use by another tool", "CUPTI 13.0"], "what the profile says")
    same([t > 0 for t in tables.sequences()[1][2]], [True] * 14, "the sequence")


@case(mpis=(), ranks=1)
def another_client_of_cupti_gets_it_and_we_take_it_back(scene):
    beside_another_client(scene, "client_linked")


@case(mpis=(), ranks=1, tier="full")
def a_client_that_fetches_cupti_gets_it_and_we_take_it_back(scene):
    beside_another_client(scene, "client_fetched")


@case(mpis=(), ranks=1)
def a_clients_own_clock_is_its_own_and_ours_stays_in_nanoseconds(scene):
    """PyTorch's profiler has CUPTI count in the processor's ticks, from then on; what had not been handed over loses its times."""
    tables = traced(scene, "ticks", "client_linked")  # which fails if the client's times are not in its ticks
    found = {t.source: (t.operations, t.ns) for t in tables.times()}
    same(found, {"cupti": (13, 13 * 3000), "launches": (6, 6 * (3000 + IDLE))}, "operations by source")
    check(missing(tables) is None, f"something was not timed: {missing(tables)}")


@case(mpis=(), ranks=1)
def a_client_of_cupti_that_was_there_first_keeps_it(scene):
    tables = traced(scene, "first", "client_linked")
    same([(t.source, t.operations) for t in tables.times()], [("launches", 5)], "operations by source")
    same(tables.facts()["gpu_times"], ["events: CUPTI is in use by another tool", "events: CUPTI was ended by another tool"], "what the profile says")


@case(mpis=(), ranks=1)
def a_client_of_cupti_that_came_before_the_first_communicator_keeps_it_until_it_is_done(scene):
    tables = traced(scene, "early", "client_linked")  # which fails if it misses a kernel
    same({t.source: (t.operations, t.ns) for t in tables.times()}, {"launches": (3, 3 * (3000 + IDLE)), "cupti": (4, 4 * 3000)}, "operations by source")
    same(tables.facts()["gpu_times"], ["events: CUPTI is in use by another tool", "CUPTI 13.0"], "what the profile says")


@case(mpis=(), ranks=1)
def a_program_that_asks_for_cupti_is_told_that_there_is_none(scene):
    run(scene, "absent", "fetched")


@case(mpis=(), ranks=1)
def our_declarations_of_cupti_agree_with_its_header(scene):
    homes = [os.environ.get("CUDA_HOME", ""), *sorted(glob.glob("/usr/local/cuda*"))]
    include = [f"{home}/{below}" for home in homes for below in ("include", "extras/CUPTI/include") if home]
    if not any(os.path.exists(f"{directory}/cupti.h") for directory in include):
        raise Skip("there is no cupti.h")
    scene.compile(SOURCES / "cupti_header.cpp", "-std=c++20", "-c", "-I", ROOT, *(f"-I{directory}" for directory in include),
                  name="cupti_header.o", compiler="g++", label="")
