"""How long NCCL's operations are on the GPU: programs against doubles of NCCL and of CUDA's driver (tests/gpu), whose clock makes
every time exact."""

import shutil

from cases.nccl import double as nccl_double, run as run_without_gpu, torchrun
from harness import ROOT, case, check, same
from tables import EXCHANGE, REPLAYS, Tables

SOURCES = ROOT / "tests" / "gpu"
IDLE = 500  # ns from a launch to its kernel on an idle stream: with events it is part of the time
BEFORE_LAUNCHES = {"FAKE_NCCL_PROFILER": 4}  # NCCL before 2.28 does not tell of the launches of its kernels


def doubles(scene):
    """The directory of libnccl.so.2, and that of libcuda.so.1."""
    directory = scene.bin / "gpu"
    directory.mkdir(exist_ok=True)
    scene.compile(SOURCES / "doubles" / "fake_cuda.c", "-shared", "-fPIC", "-w", "-I", ROOT, "-lpthread", "-Wl,-soname,libcuda.so.1",
                  name="gpu/libcuda.so.1", compiler="gcc", label="")
    return nccl_double(scene), directory


def cupti(scene, name="libcupti.so.13"):
    """The directory of libcupti.so.13, or of that name."""
    directory = "cupti" if name == "libcupti.so.13" else f"cupti.{name}"
    (scene.bin / directory).mkdir(exist_ok=True)
    return scene.compile(SOURCES / "doubles" / "fake_cupti.c", "-shared", "-fPIC", "-w", "-I", ROOT, "-lpthread", "-ldl",
                         f"-Wl,-soname,{name}", name=f"{directory}/{name}", compiler="gcc", label="").parent


def hip(scene):
    """The directory of libamdhip64.so.6, and what a program has in its environment that uses it: also the file that it keeps open."""
    directory = scene.bin / "hip"
    (directory / "dev").mkdir(exist_ok=True, parents=True)
    (directory / "dev" / "kfd").touch()
    scene.compile(SOURCES / "doubles" / "fake_hip.c", "-shared", "-fPIC", "-w", "-I", ROOT, "-lpthread", "-Wl,-soname,libamdhip64.so.6",
                  name="hip/libamdhip64.so.6", compiler="gcc", label="")
    return directory, {"FAKE_GPU": "libamdhip64.so.6", "FAKE_KFD": directory / "dev" / "kfd"}


def program(scene, how):
    nccl, cuda = doubles(scene)
    driver = [hip(scene)[0] / "libamdhip64.so.6", "-DHIP"] if "hip" in how else [cuda / "libcuda.so.1"]
    of_client = {"client_newer": "libcupti.so.14", "client_own": "libprofiler.so"}.get(how, "libcupti.so.13")
    client = ["-DWITH_CUPTI", *([] if "fetched" in how else [cupti(scene, of_client) / of_client])] if "client" in how else []
    nccl_flags = ["-DFETCH"] if "fetched" in how else ["-x", "c", ROOT / "tests" / "nccl" / "fake_nccl.c", "-x", "none"] if how == "static" else ["-L", nccl, "-lnccl"]
    flags = [*nccl_flags, *client]
    return scene.compile(SOURCES / "program.c", "-w", "-I", ROOT, *driver, *flags, "-lpthread", "-ldl", name=f"gpu_program.{how}", compiler="gcc", label="")


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


def traced(scene, act, how="linked", directory=None, env=None, code=0):
    """The same with CUPTI."""
    path = ":".join(map(str, (*doubles(scene), cupti(scene))))
    return run(scene, act, how, directory, {"MPIPROF_CUPTI": "on", "LD_LIBRARY_PATH": path, **(env or {})}, code)


def by_call(tables):
    """{(call, communicator): (operations, bytes, ns, shortest, longest)}"""
    found = {}
    for t in (t for t in tables.times() if not t.flags & REPLAYS):
        n, size, ns, shortest, longest = found.get((t.call, t.communicator), (0, 0, 0, t.min_ns, t.max_ns))
        found[t.call, t.communicator] = n + t.operations, size + t.bytes, ns + t.ns, min(shortest, t.min_ns), max(longest, t.max_ns)
    return found


REASONS = ("captured", "nonblocking", "no room", "failed", "held up", "untold", "unfinished")


def not_timed(**why):
    """What the facts say of operations without a time."""
    assert set(why) <= {reason.replace(" ", "_") for reason in REASONS}, why
    return {name.replace("_", " "): n for name, n in why.items()}


def missing(tables):
    """The same, as they were noted last, of each reason that was; None: nothing was missing."""
    noted = {reason: tables.facts().get("gpu_not_timed." + reason) for reason in REASONS}
    return {reason: int(values[-1]) for reason, values in noted.items() if values and int(values[-1]) != 0} or None


def times_are_those_of_the_gpu(scene, name, how, source, fact, env, first):
    """`first`: whether the first operation of all has a time, whose peers the host connects for 100 ms."""
    tables = run(scene, "lone", how, scene.subdir(name), torchrun(0, 2, **env))
    n = 8 + first
    same(by_call(tables), {("ncclAllReduce", 1): (n, n * 4000, n * 3000 + (n - 3) * IDLE, 3000, 3000 + IDLE),
                           ("ncclAllGather", 1): (3, 3 * 800, 3 * (2200 + IDLE), 2200 + IDLE, 2200 + IDLE),
                           ("ncclBcast", 1): (2, 140, 2 * (2017 + IDLE), 2017 + IDLE, 2017 + IDLE)}, name)
    same({t.source for t in tables.times()}, {source}, "sources")
    same(sum(sum(t.durations.values()) for t in tables.times()), 13 + first, "times in the histograms")
    of, enqueued, times = tables.sequences()[1]
    same((of, enqueued), (source, 14), "operations in the sequence")
    for found, expected in zip(times, [3500 * first] + [3500] * 4 + [2700] * 3 + [0] * 2 + [3500] + [3000] * 3):  # no broadcast: its root leaves
        check(abs(found - expected) <= 32, f"times in their order: {times}")
    same(tables.facts()["gpu_times"], [fact], "what the profile says of their source")
    same(missing(tables), None if first else not_timed(held_up=1), "what is not timed")
    return tables


@case(mpis=(), ranks=1)
def gpu_times_by_launches_of_kernels_are_those_of_the_gpu_from_the_first_use_on(scene):
    for how in ("linked", "fetched"):
        tables = times_are_those_of_the_gpu(scene, how, how, "launches", "events at kernel launches", {}, True)
        same(sum(t.kernels for t in tables.times()), 14, "kernels")


@case(mpis=(), ranks=1)
def gpu_times_by_events_leave_out_what_the_host_held_up(scene):
    for how in ("linked", "fetched"):
        times_are_those_of_the_gpu(scene, how, how, "events", "events", BEFORE_LAUNCHES, False)


@case(mpis=(), ranks=1)
def functions_of_whose_launches_nccl_says_nothing_have_times_by_events_around_the_call(scene):
    for silent, by_launches, by_events, untold in (("Broadcast:0", {"ncclAllReduce": 9, "ncclAllGather": 3}, {"ncclBcast": 2}, None),
                                                   ("AllReduce:5", {"ncclAllReduce": 5, "ncclAllGather": 3, "ncclBcast": 2}, {"ncclAllReduce": 3}, not_timed(untold=1))):
        tables = run(scene, "lone", directory=scene.subdir(silent.replace(":", ".")), env={**torchrun(0, 2), "FAKE_NCCL_SILENT": silent})
        same({t.call: t.operations for t in tables.times() if t.source == "launches"}, by_launches, f"{silent}: by launches")
        same({t.call: t.operations for t in tables.times() if t.source == "events"}, by_events, f"{silent}: by events")
        same(missing(tables), untold, f"{silent}: without a time")


@case(mpis=(), ranks=1)
def one_launch_that_nccl_does_not_tell_of_costs_one_time(scene):
    tables = run(scene, "threads", env={**torchrun(0, 2), "FAKE_NCCL_SILENT": "AllReduce:5:1"})
    same({(t.source, t.call): sum(u.operations for u in tables.times()) for t in tables.times()}, {("launches", "ncclAllReduce"): 399}, "operations by source")
    same(missing(tables), not_timed(untold=1), "without a time")


@case(mpis=(), ranks=1)
def one_rank_alone_has_no_times_on_the_gpu(scene):
    for name, env in (("launches", {}), ("events", BEFORE_LAUNCHES)):
        tables = run(scene, "lone", directory=scene.subdir(name), env={**torchrun(0, 1), **env})
        same((tables.times(), missing(tables)), ([], None), name)


@case(mpis=(), ranks=1)
def static_nccl_has_times_on_the_gpu_where_it_tells_of_its_launches(scene):
    for version, expected in ((6, {"ncclAllReduce": 9, "ncclAllGather": 3, "ncclBroadcast": 2}), (4, {})):
        directory = scene.subdir(f"lone.{version}")
        tables = run(scene, "lone", "static", directory, {**torchrun(0, 2), "FAKE_NCCL_PROFILER": version, "NCCL_PROFILER_PLUGIN": scene.library})
        same({t.call: t.operations for t in tables.times()}, expected, f"version {version}")
        same({t.ns for t in tables.times() if t.call == "ncclAllReduce"}, {9 * 3000 + 6 * IDLE} if expected else set(), "time of the reductions")
    groups = run(scene, "groups", "static", scene.subdir("groups"), {**torchrun(0, 2), "NCCL_PROFILER_PLUGIN": scene.library})
    same(sorted((t.call, t.operations, t.ns) for t in groups.times()),
         [("ncclAllReduce", 1, 3000 + IDLE), ("ncclGroupEnd", 1, 4000), ("ncclGroupEnd", 1, 7000 + IDLE), ("ncclGroupEnd", 1, 10000 + IDLE)], "groups, by kernel")


@case(mpis=(), ranks=1)
def a_group_on_the_gpu_is_one_operation(scene):
    tables = run(scene, "groups")
    same(by_call(tables), {("ncclGroupEnd", 1): (2, 3 * 4000 + 10 * 4000, 7000 + 14000 + 2 * IDLE, 7000 + IDLE, 14000 + IDLE),
                           ("ncclAllReduce", 1): (1, 4000, 3000 + IDLE, 3000 + IDLE, 3000 + IDLE)}, "times")
    # Three are sent and two received; one of each is the rank's own.
    same([(t.bytes, t.others) for t in tables.times() if t.flags & EXCHANGE], [(3 * 4000, 2 * 4000)], "what was exchanged with others")
    source, enqueued, times = tables.sequences()[1]
    same((enqueued, [bool(t) for t in times]), (11, [True] + [False] * 9 + [True]), "collectives in the sequence")


@case(mpis=(), ranks=1)
def messages_without_bytes_have_a_time_on_the_gpu(scene):
    for name, env in (("launches", {}), ("events", BEFORE_LAUNCHES)):
        tables = run(scene, "empty", directory=scene.subdir(name), env={**torchrun(0, 2), **env})
        of_groups = [found for (call, _), found in by_call(tables).items() if call == "ncclGroupEnd"]
        same(of_groups, [(1, 0, 2000 + IDLE, 2000 + IDLE, 2000 + IDLE)], f"times of the group, {name}")
        same([call for call, _ in by_call(tables) if call == "ncclAllGather"], [], f"times of a collective without bytes, {name}")


@case(mpis=(), ranks=1)
def a_group_over_several_gpus_has_a_time_on_each(scene):
    tables = run(scene, "gpus")
    times = {key: (operations, size) for key, (operations, size, *_) in by_call(tables).items()}
    same(times, {("ncclAllReduce", 1): (2, 8000), ("ncclAllGather", 2): (2, 16000)}, "times")


@case(mpis=(), ranks=1)
def what_is_launched_while_another_gpu_is_current_has_its_time(scene):
    for name, get, idle in (("events", run, IDLE), ("cupti", traced, 0)):
        tables = get(scene, "elsewhere", directory=scene.subdir(name))
        same(by_call(tables), {("ncclAllReduce", 1): (3, 12000, 3 * (3000 + idle), 3000 + idle, 3000 + idle)}, name)
        check(missing(tables) is None, f"{name}: something was not timed")


@case(mpis=(), ranks=1)
def gpu_times_of_threads_add_up(scene):
    times = by_call(run(scene, "threads"))
    same(sorted((key, value[0], value[1]) for key, value in times.items()), [(("ncclAllReduce", i), 100, 400000) for i in range(1, 5)],
         "operations of each thread's communicator")


@case(mpis=(), ranks=1)
def what_another_thread_launches_has_its_time_where_nccl_tells_of_it(scene):
    tables = run(scene, "nonblocking", directory=scene.subdir("launches"))
    same(by_call(tables), {("ncclAllReduce", i): (n, n * 4000, n * (3000 + IDLE), 3000 + IDLE, 3000 + IDLE) for i, n in ((1, 6), (2, 1))}, "times")
    check(missing(tables) is None, "something was not timed")
    tables = run(scene, "nonblocking", directory=scene.subdir("silent"), env={"FAKE_NCCL_SILENT": "AllReduce:2:3"})
    same((sum(t.operations for t in tables.times()), missing(tables)), (4, not_timed(untold=3)), "where NCCL tells of some launches only")
    for version in (4, 1):  # 2.23 says "success" of what is in progress
        tables = run(scene, "nonblocking", directory=scene.subdir(f"events.{version}"), env={"FAKE_NCCL_PROFILER": version})
        same((tables.times(), missing(tables)), ([], not_timed(nonblocking=6, held_up=1)), "before, it is told that there is none")


@case(mpis=(), ranks=1)
def an_error_of_cuda_is_not_for_ever(scene):
    tables = run(scene, "errors", directory=scene.subdir("errors"))
    same([t.operations for t in tables.times()], [7], "times beside two questions that failed")
    same(missing(tables), not_timed(failed=2), "what is not timed")
    tables = run(scene, "bare", directory=scene.subdir("bare"))
    same((sum(t.operations for t in tables.times()), missing(tables)), (6, None), "ended by a thread without a context")
    tables = run(scene, "reset", directory=scene.subdir("reset"))
    same((sum(t.operations for t in tables.times()), missing(tables)), (8, None), "beside a reset of the device")


@case(mpis=(), ranks=1)
def capturing_a_graph_is_left_alone(scene):
    tables = run(scene, "captured")  # the double ends a capture that is disturbed with an error
    same([(t.call, t.operations, t.flags) for t in tables.times()], [("ncclAllReduce", 5, 0)], "times")
    same(tables.sequences()[1][1], 9, "operations in the sequence")
    same(missing(tables), not_timed(captured=4), "what is not timed")


@case(mpis=(), ranks=1)
def errors_of_nccl_and_of_cuda_are_no_times(scene):
    same([(t.call, t.operations) for t in run(scene, "failing", directory=scene.subdir("failing")).times()], [("ncclAllReduce", 1)],
         "times beside calls that NCCL refused")
    tables = run(scene, "broken", directory=scene.subdir("broken"))
    same([(t.call, t.operations) for t in tables.times()], [("ncclAllReduce", 2)], "times harvested before CUDA broke")
    same(missing(tables), not_timed(failed=4), "what is not timed")


@case(mpis=(), ranks=1)
def so_many_operations_under_way_are_bounded_and_counted(scene):
    tables = run(scene, "many")
    time, = tables.times()
    no_room = missing(tables)["no room"]
    check(no_room > 500, f"the double has no more under way than there is room for: {missing(tables)}")
    same((time.operations + no_room, next(iter(tables.sequences().values()))[1]), (6000, 6000), "timed or not, enqueued")


@case(mpis=(), ranks=1)
def nobody_waits_for_a_gpu_at_the_end(scene):
    tables = run(scene, "unfinished")
    same([t.operations for t in tables.times()], [4], "times")  # the clock moves with each call
    same(missing(tables), not_timed(unfinished=3), "what is not timed")


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


@case(mpis=(), ranks=1)
def a_driver_that_was_opened_by_another_of_its_names_is_seen(scene):
    """numba asks for libcuda.so first, and the loader keeps that name."""
    directory = scene.subdir("driver")
    shutil.copy(doubles(scene)[1] / "libcuda.so.1", directory / "libcuda.so")
    run_without_gpu(scene, "linked", "every", scene.dir, torchrun(0, 2, FAKE_GPU="libcuda.so", LD_LIBRARY_PATH=f"{nccl_double(scene)}:{directory}"))
    tables = Tables(scene.profiles()[0])
    check(tables.times() and tables.facts()["gpu_times"] != ["none: no GPU driver in this process"], f"{tables.facts()}")


def mpi_program(scene):
    nccl, cuda = doubles(scene)
    return scene.compile(SOURCES / "program.c", "-w", "-DWITH_MPI", "-I", ROOT, cuda / "libcuda.so.1", "-L", nccl, "-lnccl", "-lpthread",
                         "-ldl", name=f"gpu_program.{scene.mpi}")


@case(ranks=2)
def gpu_times_of_an_mpi_job_are_in_its_file_at_finalize(scene):
    path = ":".join(map(str, (*doubles(scene), cupti(scene))))
    for store, source, ns in (("mapped", "launches", 3000 + IDLE), ("written", "launches", 3000 + IDLE), ("written", "cupti", 3000)):
        directory = scene.subdir(f"{store}_{source}")
        env = {"LD_LIBRARY_PATH": path, "FAKE_GPU": 1, "MPIPROF_STORE": store, "MPIPROF_CUPTI": "on" if source == "cupti" else "off"}
        scene.mpirun(2, [mpi_program(scene), "mpi"], profiled="ranks", env=env, cwd=directory).succeeded()
        for profile in scene.profiles(directory):
            found = [(t.call, t.source, t.operations, t.ns) for t in Tables(profile).times()]
            same(found, [("ncclAllReduce", source, 5, 5 * ns)], f"{store}, {source}: times")


@case(ranks=2)
def gpu_times_go_on_after_mpi_finalize(scene):
    path = ":".join(map(str, (*doubles(scene), cupti(scene))))
    for source in ("launches", "cupti"):
        directory = scene.subdir(source)
        env = {"LD_LIBRARY_PATH": path, "FAKE_GPU": 1, "MPIPROF_CUPTI": "on" if source == "cupti" else "off"}
        scene.mpirun(2, [mpi_program(scene), "mpi_first"], profiled="ranks", env=env, cwd=directory).succeeded()
        for profile in scene.profiles(directory):
            tables = Tables(profile)
            time, = tables.times()
            same((time.source, time.operations, next(iter(tables.sequences().values()))[1]), (source, 12, 12), "timed, enqueued")
            under_way = "8" if source == "cupti" else "3"  # CUPTI hands over no buffer in which something is under way
            same(tables.facts()["gpu_not_timed.unfinished"], [under_way, "0"], f"{source}: under way at MPI_Finalize, and at the end")
        text = scene.run_report("nccl", cwd=directory).succeeded().out
        check("unfinished" not in text, f"the report counts what was under way at MPI_Finalize\n{text}")


def plugin_with_graphs(scene, major):
    """Linked with NCCL and, by its RPATH, with a CUDA runtime whose names have versions."""
    nccl, cuda = doubles(scene)
    directory = scene.subdir(f"cudart.{major}")
    versions = directory / "versions"
    versions.write_text((SOURCES / "doubles" / "cudart.map").read_text().replace("MAJOR", str(major)))
    soname = f"libcudart.so.{major}"
    common = ["-w", "-shared", "-fPIC", "-I", ROOT, f"-DCUDART={major}", cuda / "libcuda.so.1"]
    library = scene.compile(SOURCES / "doubles" / "graphs_cudart.c", *common, f"-Wl,--version-script={versions}", f"-Wl,-soname,{soname}",
                            name=directory / soname, compiler="gcc", label="")
    return scene.compile(SOURCES / "graphs.c", *common, library, "-L", nccl, "-lnccl", f"-Wl,-rpath,{directory}", name=directory / "libplugin.so",
                         compiler="gcc", label="")


@case(mpis=(), ranks=1)
def replays_of_cuda_graphs_are_counted_without_cupti(scene):
    """Of clones, child graphs, graphs in graphs, over two streams, after updates; by the runtime that the plug-in means."""
    opener = scene.compile(SOURCES / "opener.c", "-w", "-ldl", name="opener", compiler="gcc", label="")
    for major in (11, 12):
        plugin = plugin_with_graphs(scene, major)
        directory = scene.subdir(f"ran.{major}")
        path = ":".join(map(str, doubles(scene)))
        ran = scene.alone([opener, plugin], profiled=False, cwd=directory,
                          env={"LD_LIBRARY_PATH": path, "LD_PRELOAD": scene.library, "FAKE_GPU": 1, "MPIPROF_DIR": directory, **torchrun(0, 2)})
        same((ran.code, ran.out, ran.err), (0, "", ""), f"CUDA {major}")
        tables = Tables(next(directory.glob("mpi_profile.*.0")))
        same({(t.call, t.communicator): (t.operations, t.bytes, t.ns) for t in tables.times() if t.flags & REPLAYS},
             {("ncclAllReduce", 1): (52, 52 * 4000, 0), ("ncclAllGather", 1): (12, 12 * 800, 0), ("ncclSend", 1): (7, 1400, 0), ("ncclRecv", 1): (7, 1400, 0)},
             f"replays, CUDA {major}")
        same(tables.facts()["graphs_followed"], ["yes"], "what the profile says of it")
        shown = scene.run_report("nccl", cwd=directory).succeeded().out
        check("CUDA graphs replayed 78 NCCL operations" in scene.run_report("summary", "--width", "400", cwd=directory).succeeded().out, "the summary")
        check("78 of these are replays of CUDA graphs" in shown and "are lower bounds" not in shown, shown)
        rows = scene.run_report("nccl", "--format", "csv", cwd=directory).succeeded().out.split("\n\n")[0].splitlines()
        header, row = (line.split(",") for line in [line for line in rows if not line.startswith("# ")][:2])
        found = dict(zip(header, row))
        same((found["collectives"], found["point_to_point"], found["total_replayed"]), ("73", "16", "78"), f"the communicator's: {found}")


@case(mpis=(), ranks=1)
def where_replays_are_not_seen_the_counts_are_at_least(scene):
    """Graphs that are made by the driver's functions."""
    run(scene, "captured")
    check("COLLECTIVES, SEND+RECV and BYTES are lower bounds" in scene.run_report("nccl").succeeded().out.replace("\n  ", " "), scene.run_report("nccl").out)
    summary = scene.run_report("summary", "--width", "400").succeeded().out
    check("NCCL did more work than its calls show: on 1 rank, replays of CUDA graphs with NCCL operations are not seen." in summary, summary)
