"""How long RCCL's operations are on AMD's GPUs, by HIP's events: the programs of gpu.py against a double of HIP, which ends whoever asks
it something that the real one would suffer from."""

from cases.gpu import BEFORE_LAUNCHES, IDLE, by_call, doubles, hip, missing, not_timed, run as run_on, torchrun
from harness import case, check, same


def run(scene, act, directory=None, env=None, code=0, how="hip"):
    library, settings = hip(scene)
    path = ":".join(map(str, (doubles(scene)[0], library)))
    return run_on(scene, act, how, scene.subdir(directory or act), {"LD_LIBRARY_PATH": path, **settings, **(env or {})}, code)


def operations(tables):
    return [(t.call, t.source, t.operations) for t in tables.times()]


@case(mpis=(), ranks=1)
def times_of_rccl_by_events_of_hip_are_those_of_the_gpu(scene):
    for how, env, first in (("hip", {}, 1), ("hip_fetched", {}, 1), ("hip", BEFORE_LAUNCHES, 0)):
        for version in (50700000, 60300000, 70000000):
            name = f"{how}.{version}.{first}"
            tables = run(scene, "lone", name, torchrun(0, 2, FAKE_HIP_VERSION=version, **env), how=how)
            n = 8 + first
            same(by_call(tables), {("ncclAllReduce", 1): (n, n * 4000, n * 3000 + (n - 3) * IDLE, 3000, 3000 + IDLE),
                                   ("ncclAllGather", 1): (3, 3 * 800, 3 * (2200 + IDLE), 2200 + IDLE, 2200 + IDLE),
                                   ("ncclBcast", 1): (2, 140, 2 * (2017 + IDLE), 2017 + IDLE, 2017 + IDLE)}, name)
            same(tables.facts()["gpu_times"], ["HIP events at kernel launches" if first else "HIP events"], "what the profile says of their source")
            same(missing(tables), None if first else not_timed(held_up=1), "what is not timed")
    same("GPU times: HIP events" in scene.run_report("nccl", str(scene.dir / "hip.60300000.1")).succeeded().out, True, "the report")


@case(mpis=(), ranks=1)
def groups_and_several_gpus_of_amds_have_times(scene):
    tables = run(scene, "groups")
    same(by_call(tables), {("ncclGroupEnd", 1): (2, 3 * 4000 + 10 * 4000, 7000 + 14000 + 2 * IDLE, 7000 + IDLE, 14000 + IDLE),
                           ("ncclAllReduce", 1): (1, 4000, 3000 + IDLE, 3000 + IDLE, 3000 + IDLE)}, "groups")
    times = {key: (n, size) for key, (n, size, *_) in by_call(run(scene, "gpus")).items()}
    same(times, {("ncclAllReduce", 1): (2, 8000), ("ncclAllGather", 2): (2, 16000)}, "a group over two GPUs")
    times = by_call(run(scene, "threads"))
    same(sorted((key, value[0]) for key, value in times.items()), [(("ncclAllReduce", i), 100) for i in range(1, 5)], "threads")


@case(mpis=(), ranks=1)
def capturing_a_graph_of_hips_is_left_alone(scene):
    tables = run(scene, "captured")  # the double ends a capture that is disturbed with an error
    same(operations(tables), [("ncclAllReduce", "launches", 5)], "outside the capture")
    same(missing(tables), not_timed(captured=4), "what is not timed")
    tables = run(scene, "pending")
    same(operations(tables), [("ncclAllReduce", "launches", 9)], "with events of before on the stream that is captured")


@case(mpis=(), ranks=1)
def streams_of_hip_that_must_not_be_asked_for_are_not(scene):
    tables = run(scene, "gone")
    n = operations(tables)[0][2]
    same(missing(tables), not_timed(failed=11 - n), "of streams that were destroyed")
    check(3 <= n < 11, f"timed: {n}")
    tables = run(scene, "numbers")
    same(operations(tables), [("ncclAllReduce", "launches", 1)], "on the null stream")
    same(missing(tables), not_timed(failed=2), "on streams that are numbers")


@case(mpis=(), ranks=1)
def errors_of_hip_stay_with_whom_they_belong_to(scene):
    for version in (50700000, 60300000, 70000000):
        tables = run(scene, "unread", f"unread.{version}", {"FAKE_HIP_VERSION": version})  # which looks at its own
        same(operations(tables), [("ncclAllReduce", "launches", 4)], "while no error was unread")
        same(tables.sequences()[1][1], 9, "operations in the sequence")
        same(missing(tables), not_timed(failed=5), "what is not timed")
    tables = run(scene, "broken")
    same(operations(tables), [("ncclAllReduce", "launches", 2)], "harvested before HIP broke")


@case(mpis=(), ranks=1)
def hip_is_left_alone_where_nobody_initialised_it_or_the_user_says_so(scene):
    tables = run(scene, "lone", "closed", {"FAKE_KFD": ""})
    same(tables.facts()["gpu_times"], ["none: no GPU driver in this process"], "without its file open")
    tables = run(scene, "lone", "off", {"MPIPROF_GPU": "off"})
    same(tables.facts()["gpu_times"], ["none: MPIPROF_GPU=off"], "switched off")
    tables = run(scene, "lone", "cupti", {"MPIPROF_CUPTI": "on"})
    same(tables.facts()["gpu_times"], ["HIP events at kernel launches"], "CUPTI is CUDA's")


@case(mpis=(), ranks=1)
def kills_forks_and_unfinished_work_beside_hip(scene):
    same(operations(run(scene, "killed", code=-9)), [("ncclAllReduce", "launches", 49)], "killed")
    same(operations(run(scene, "fork")), [("ncclAllReduce", "launches", 2)], "beside forked children")
    tables = run(scene, "unfinished")
    same(missing(tables), not_timed(unfinished=3), "unfinished")
