"""How long NCCL's operations are on the GPU: programs against doubles of NCCL and of CUDA's driver (tests/gpu), whose clock makes
every time exact."""

from cases.nccl import double as nccl_double, run as run_without_gpu, torchrun
from harness import ROOT, case, check, same
from tables import Tables

SOURCES = ROOT / "tests" / "gpu"
IDLE = 500  # ns from a call to its kernel on an idle stream: with events it is part of the time


def doubles(scene):
    """The directory of libnccl.so.2, and that of libcuda.so.1."""
    directory = scene.bin / "gpu"
    directory.mkdir(exist_ok=True)
    scene.compile(SOURCES / "doubles" / "fake_cuda.c", "-shared", "-fPIC", "-w", "-I", ROOT, "-lpthread", "-Wl,-soname,libcuda.so.1",
                  name="gpu/libcuda.so.1", compiler="gcc", label="")
    return nccl_double(scene), directory


def program(scene, how):
    nccl, cuda = doubles(scene)
    flags = {"linked": ["-L", nccl, "-lnccl"], "fetched": ["-DFETCH"]}[how]
    return scene.compile(SOURCES / "program.c", "-w", "-I", ROOT, cuda / "libcuda.so.1", *flags, "-lpthread", "-ldl",
                         name=f"gpu_program.{how}", compiler="gcc", label="")


def run(scene, act, how="linked", directory=None, env=None, code=0):
    hook = scene.library.with_name("libmpiprof-dlsym.so")
    preload = f"{scene.library}:{hook}" if hook.exists() else scene.library
    path = ":".join(map(str, doubles(scene)))
    ran = scene.alone([program(scene, how), act], profiled=False, cwd=directory or scene.dir,
                      env={"LD_LIBRARY_PATH": path, "LD_PRELOAD": preload, "FAKE_GPU": 1, **(env or {})})
    same((ran.code, ran.out, ran.err), (code, "", ""), f"{how} {act}")
    profiles = scene.profiles(directory)
    same(len(profiles), 1, "profiles")
    return Tables(profiles[0])


def by_call(tables):
    """{(call, communicator): (operations, bytes, ns, shortest, longest)}"""
    found = {}
    for t in tables.times():
        n, size, ns, shortest, longest = found.get((t.call, t.communicator), (0, 0, 0, t.min_ns, t.max_ns))
        found[t.call, t.communicator] = n + t.operations, size + t.bytes, ns + t.ns, min(shortest, t.min_ns), max(longest, t.max_ns)
    return found


@case(mpis=(), ranks=1)
def gpu_times_by_events_are_those_of_the_gpu(scene):
    for how in ("linked", "fetched"):
        tables = run(scene, "lone", how, scene.subdir(how), torchrun(0, 2))
        same(by_call(tables), {("ncclAllReduce", 1): (9, 9 * 4000, 9 * 3000 + 6 * IDLE, 3000, 3000 + IDLE),
                               ("ncclAllGather", 1): (3, 3 * 800, 3 * (2200 + IDLE), 2200 + IDLE, 2200 + IDLE),
                               ("ncclBcast", 1): (2, 140, 2 * (2017 + IDLE), 2017 + IDLE, 2017 + IDLE)}, how)
        same({t.source for t in tables.times()}, {"events"}, "sources")
        same(sum(sum(t.durations.values()) for t in tables.times()), 14, "times in the histograms")
        source, enqueued, times = tables.sequences()[1]
        same((source, enqueued), ("events", 14), "operations in the sequence")
        for found, expected in zip(times, [3500] * 5 + [2700] * 3 + [2517] * 2 + [3500] + [3000] * 3):
            check(abs(found - expected) <= 32, f"times in their order: {times}")
        same(tables.facts()["gpu_times"], ["events"], "what the profile says of their source")
        check("gpu_not_timed" not in tables.facts(), "something was not timed")


@case(mpis=(), ranks=1)
def a_group_on_the_gpu_is_one_operation(scene):
    tables = run(scene, "groups")
    same(by_call(tables), {("ncclGroupEnd", 1): (2, 5 * 4000 + 10 * 4000, 7000 + 14000 + 2 * IDLE, 7000 + IDLE, 14000 + IDLE),
                           ("ncclAllReduce", 1): (1, 4000, 3000 + IDLE, 3000 + IDLE, 3000 + IDLE)}, "times")
    source, enqueued, times = tables.sequences()[1]
    same((enqueued, [bool(t) for t in times]), (11, [True] + [False] * 9 + [True]), "collectives in the sequence")


@case(mpis=(), ranks=1)
def a_group_over_several_gpus_has_a_time_on_each(scene):
    tables = run(scene, "gpus")
    times = {key: (operations, size) for key, (operations, size, *_) in by_call(tables).items()}
    same(times, {("ncclAllReduce", 1): (2, 8000), ("ncclAllGather", 2): (2, 8000)}, "times")


@case(mpis=(), ranks=1)
def gpu_times_of_threads_add_up(scene):
    times = by_call(run(scene, "threads"))
    same(sorted((key, value[0], value[1]) for key, value in times.items()), [(("ncclAllReduce", i), 100, 400000) for i in range(1, 5)],
         "operations of each thread's communicator")


@case(mpis=(), ranks=1)
def what_another_thread_launches_is_not_timed_but_told(scene):
    tables = run(scene, "nonblocking")
    same([(t.call, t.operations) for t in tables.times()], [("ncclAllReduce", 1)], "times")
    same(tables.facts()["gpu_not_timed"], ["captured 0, nonblocking 6, no room 0, failed 0, unfinished 0"], "what is not timed")


@case(mpis=(), ranks=1)
def capturing_a_graph_is_left_alone(scene):
    tables = run(scene, "captured")  # the double ends a capture that is disturbed with an error
    same([(t.call, t.operations, t.flags) for t in tables.times()], [("ncclAllReduce", 5, 0)], "times")
    same(tables.sequences()[1][1], 9, "operations in the sequence")
    same(tables.facts()["gpu_not_timed"], ["captured 4, nonblocking 0, no room 0, failed 0, unfinished 0"], "what is not timed")


@case(mpis=(), ranks=1)
def errors_of_nccl_and_of_cuda_are_no_times(scene):
    same([(t.call, t.operations) for t in run(scene, "failing", directory=scene.subdir("failing")).times()], [("ncclAllReduce", 1)],
         "times beside calls that NCCL refused")
    tables = run(scene, "broken", directory=scene.subdir("broken"))
    same([(t.call, t.operations) for t in tables.times()], [("ncclAllReduce", 2)], "times harvested before CUDA broke")
    same(tables.facts()["gpu_not_timed"], ["captured 0, nonblocking 0, no room 0, failed 4, unfinished 0"], "what is not timed")


@case(mpis=(), ranks=1)
def so_many_operations_under_way_are_bounded_and_counted(scene):
    tables = run(scene, "many")
    time, = tables.times()
    missing, = tables.facts()["gpu_not_timed"]
    no_room = int(missing.split("no room ")[1].split(",")[0])
    check(no_room > 500, f"the double has no more under way than there is room for: {missing}")
    same((time.operations + no_room, tables.sequences()[1][1]), (6000, 6000), "timed or not, enqueued")


@case(mpis=(), ranks=1)
def nobody_waits_for_a_gpu_at_the_end(scene):
    tables = run(scene, "unfinished")
    same([t.operations for t in tables.times()], [4], "times")  # the clock moves with each call
    same(tables.facts()["gpu_not_timed"], ["captured 0, nonblocking 0, no room 0, failed 0, unfinished 3"], "what is not timed")


@case(mpis=(), ranks=1)
def gpu_times_survive_kill_9(scene):
    time, = run(scene, "killed", code=-9).times()
    same((time.call, time.operations), ("ncclAllReduce", 49), "times harvested by the last call")


@case(mpis=(), ranks=1)
def forked_children_never_touch_the_gpu(scene):
    time, = run(scene, "fork").times()
    same((time.call, time.operations), ("ncclAllReduce", 2), "times")


@case(mpis=(), ranks=1)
def without_a_gpu_or_where_the_user_says_so_nothing_is_measured(scene):
    without = scene.subdir("without")
    run_without_gpu(scene, "linked", "every", without)
    run(scene, "lone", directory=scene.subdir("off"), env={"MPIPROF_GPU": "off"})
    for directory, reason in ((without, "none: no GPU driver in this process"), (scene.dir / "off", "none: MPIPROF_GPU=off")):
        tables = Tables(scene.profiles(directory)[0])
        same((tables.times(), tables.sequences(), tables.facts()["gpu_times"]), ([], {}, [reason]), "times, sequences, why")
