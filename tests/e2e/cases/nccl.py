"""NCCL, beside MPI and without it: programs against a double (tests/nccl) that counts every call itself."""

import contextlib
import glob
import os

from acts import ranks_of
from harness import ROOT, Skip, case, check, same

SOURCES = ROOT / "tests" / "nccl"


def double(scene):
    """The directory of a libnccl.so.2 that moves nothing."""
    directory = scene.bin / f"nccl.{scene.mpi}"
    directory.mkdir(exist_ok=True)
    library = scene.compile(SOURCES / "fake_nccl.c", "-shared", "-fPIC", "-I", ROOT, "-lpthread", "-ldl", "-Wl,-soname,libnccl.so.2",
                            name=f"nccl.{scene.mpi}/libnccl.so.2", compiler="gcc", label="")
    link = directory / "libnccl.so"
    with contextlib.suppress(FileExistsError):  # another case was faster
        link.symlink_to(library)
    return directory


def program(scene, how):
    """linked: NCCL is a needed library; fetched: dlopen and dlsym; mpi: linked with NCCL and with MPI; mpi_fetched: with MPI alone."""
    where = double(scene)
    flags = {"linked": ["-L", where, "-lnccl"], "fetched": ["-DFETCH", "-ldl"], "mpi": ["-DWITH_MPI", "-L", where, "-lnccl"],
             "mpi_fetched": ["-DWITH_MPI", "-DFETCH", "-ldl"]}[how]
    return scene.compile(SOURCES / "program.c", "-w", "-I", ROOT, *flags, "-lpthread", f"-Wl,-rpath,{where}",
                         name=f"nccl_program.{how}.{scene.mpi}", compiler=None if how.startswith("mpi") else "gcc", label="")


def environment(scene, directory, count="counts", **more):
    hook = scene.library.with_name("libmpiprof-dlsym.so")
    return {"LD_LIBRARY_PATH": double(scene), "FAKE_NCCL_COUNTS": directory / count,
            "LD_PRELOAD": f"{scene.library}:{hook}" if hook.exists() else scene.library, **more}


def torchrun(rank, size, **more):
    return {"RANK": rank, "WORLD_SIZE": size, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": size, "MASTER_ADDR": "localhost",
            "MASTER_PORT": 29500, "TORCHELASTIC_RUN_ID": "train", "TORCHELASTIC_RESTART_COUNT": 0, **more}


def run(scene, how, act, directory, env=None, ok=True):
    ran = scene.alone([program(scene, how), act], profiled=False, cwd=directory, env=environment(scene, directory, **(env or {})))
    if ok:
        same((ran.code, ran.out, ran.err), (0, "", ""), f"{how} {act}")
    return ran


def counted(directory, prefix="counts"):
    """{call: (calls, bytes)} as the double counted; CommCount and CommUserRank are left out."""
    sums = {}
    files = list(directory.glob(prefix + ".*"))
    check(files, f"the double wrote no {prefix} into {directory}")
    for path in files:
        for line in path.read_text().splitlines():
            name, calls, size = line.split()
            before = sums.get(name, (0, 0))
            sums[name] = before[0] + int(calls), before[1] + int(size)
    return sums


def recorded(scene, directory, rank=None):
    """The same of the profiles, of all ranks or of one."""
    sums = {}
    for (of, call, _), (calls, size) in scene.export(cwd=directory).items():
        if not call.startswith("nccl") or (rank is not None and of != rank) or not calls:
            continue
        before = sums.get(call, (0, 0))
        sums[call] = before[0] + calls, before[1] + size
    return sums


@case(mpis=(), ranks=1)
def nccl_calls_and_bytes_are_exact(scene):
    for how in ("linked", "fetched"):
        directory = scene.subdir(how)
        for rank in range(2):
            run(scene, how, "every", directory, torchrun(rank, 2, count=f"rank{rank}"))
        for rank in range(2):
            expected = counted(directory, f"rank{rank}")
            same(expected["ncclAllGather"], (6, 63072 * 2), "the double's own count")
            same(recorded(scene, directory, rank), expected, f"{how}, rank {rank}, call -> (calls, bytes)")
        same(len(scene.profiles(directory)), 2, "profiles")


@case(mpis=(), ranks=1)
def a_group_says_how_many_operations_it_launched(scene):
    run(scene, "linked", "every", scene.dir)
    rows = [row for row in scene.run_report("calls", "--format", "csv").succeeded().out.splitlines()]
    header = rows[0].split(",")
    groups = [dict(zip(header, row.split(","))) for row in rows if row.startswith("ncclGroupEnd,")]
    same([(row["calls_total"], row["requests"]) for row in groups], [("2", "5")], "ends of groups, operations in them")


@case(mpis=(), ranks=1)
def threads_and_their_communicators_add_up(scene):
    run(scene, "linked", "threads", scene.dir)
    same(recorded(scene, scene.dir), counted(scene.dir), "call -> (calls, bytes)")
    same(recorded(scene, scene.dir)["ncclAllReduce"], (400, 400 * 1024), "all threads' reductions")


def run_newer(scene, act, directory, env, *more):
    """The same with what NCCL has had since 2.22."""
    where = scene.bin / "newer"
    where.mkdir(exist_ok=True)
    library = scene.compile(SOURCES / "fake_nccl.c", "-shared", "-fPIC", "-DNEWER", "-I", ROOT, "-lpthread", "-ldl", "-Wl,-soname,libnccl.so.2",
                            name="newer/libnccl.so.2", compiler="gcc", label="")
    newer = scene.compile(SOURCES / "program.c", "-w", "-DNEWER", "-I", ROOT, library, "-lpthread", "-ldl", name="nccl_program.newer", compiler="gcc", label="")
    ran = scene.alone([newer, act, *more], profiled=False, cwd=directory, env={**environment(scene, directory, **env), "LD_LIBRARY_PATH": where})
    same((ran.code, ran.out, ran.err), (0, "", ""), act)


@case(mpis=(), ranks=1)
def members_of_newer_communicators_agree_and_one_sided_bytes_are_exact(scene):
    for rank in range(3):
        run_newer(scene, "newer", scene.dir, torchrun(rank, 3, count=f"rank{rank}", FAKE_NCCL_PROFILER=0))
        same(recorded(scene, scene.dir, rank), counted(scene.dir, f"rank{rank}"), f"rank {rank}: call -> (calls, bytes)")
    of_all = recorded(scene, scene.dir)
    same(of_all["ncclPutSignal"], (9, 9 * 4000), "one-sided")
    same((of_all["ncclAlltoAllv"], of_all["ncclAllToAllv"], of_all["ncclAllReduceWithBias"]),
         ((6, 2 * 4 * (3 * 320 + 3)), (3, 8 * (3 * 320 + 3)), (3, 3 * 4000)), "RCCL's")
    check("[order]" not in scene.run_report().succeeded().out, "counts of one's own are taken for another order")
    rows = [line for line in scene.run_report("nccl", "--format", "csv").succeeded().out.split("\n\n")[0].splitlines() if not line.startswith("# ")]
    header = rows[0].split(",")
    known = {}
    for row in (dict(zip(header, line.split(","))) for line in rows[1:]):
        known.setdefault(row["made_by"], []).append((row["size"], row["ranks"], bool(row["id"])))
    same({name: known.get(name) for name in ("ncclCommInitRankScalable", "ncclCommShrink", "ncclCommSplit")},
         {"ncclCommInitRankScalable": [("3", "3", True)], "ncclCommShrink": [("2", "2", True)], "ncclCommSplit": [("1", "3", True)]},
         "size, members and id of communicators")


@case(mpis=(), ranks=1)
def calls_that_come_before_the_first_communicator_are_counted(scene):
    """The id, and the groups that are open when the profile begins."""
    for how in ("linked", "fetched"):
        run(scene, how, "ids", scene.subdir(how), {"MPIPROF_JOB": how})
        same(recorded(scene, scene.dir / how), counted(scene.dir / how), f"{how}: call -> (calls, bytes)")


@case(mpis=(), ranks=1)
def nonblocking_communicators_are_no_errors(scene):
    for rank in range(2):
        run(scene, "linked", "nonblocking", scene.dir, torchrun(rank, 2))
    same(recorded(scene, scene.dir), counted(scene.dir), "call -> (calls, bytes)")
    same(recorded(scene, scene.dir)["ncclAllGather"], (10, 10 * 800), "gathers")
    same(sum(int(row["errors"]) for row in scene.export_rows(cwd=scene.dir)), 0, "errors")
    check("tensor parallel" in scene.run_report("comms").succeeded().out, "the communicator's own name is not shown")


@case(mpis=(), ranks=1)
def errors_of_nccl_are_counted_as_errors(scene):
    run(scene, "linked", "errors", scene.dir)
    errors = {row["call"]: int(row["errors"]) for row in scene.export_rows(cwd=scene.dir) if int(row["errors"])}
    same(errors, {"ncclAllReduce": 2, "ncclCommDestroy": 1}, "errors")
    same(recorded(scene, scene.dir), counted(scene.dir), "call -> (calls, bytes)")


@case(mpis=(), ranks=1)
def real_nccl_answers_as_without_us_where_there_is_no_gpu(scene):
    homes = ["/usr", os.environ.get("CUDA_HOME", ""), *sorted(glob.glob("/usr/local/cuda*"))]
    found = [(f"{home}/include", lib) for home in homes if home and os.path.exists(f"{home}/include/nccl.h")
             for lib in (f"{home}/lib64", f"{home}/lib", f"{home}/lib/x86_64-linux-gnu") if os.path.exists(f"{lib}/libnccl.so")]
    if not found or os.path.exists("/dev/nvidiactl"):
        raise Skip("there is no NCCL with its header, or there is a GPU")
    include, lib = found[0]
    real = scene.compile(SOURCES / "real.c", f"-I{include}", "-L", lib, "-l:libnccl.so.2", f"-Wl,-rpath,{lib}", name="real_nccl", compiler="gcc", label="")
    hook = scene.library.with_name("libmpiprof-dlsym.so")
    plain = scene.alone([real], profiled=False)
    ours = scene.alone([real], profiled=False, env={"LD_PRELOAD": f"{scene.library}:{hook}" if hook.exists() else scene.library})
    same((ours.code, ours.out, ours.err), (plain.code, plain.out, plain.err), "its answers")
    same(plain.code, 0, "exit code")
    rows = {row["call"]: (int(row["calls"]), int(row["errors"])) for row in scene.export_rows() if row["call"].startswith("nccl")}
    answers = {line.split("(")[0]: int(line.split(" = ")[1]) for line in plain.out.splitlines() if " = " in line}
    timed = ("ncclCommInitRank", "ncclAllReduce", "ncclBcast", "ncclSend", "ncclGroupEnd")
    same({name: rows.get(name) for name in timed}, {name: (0, 1) if answers[name] else (1, 0) for name in timed}, "(calls, errors)")
    check(answers["ncclAllReduce"] != 0 and "ncclBroadcast" not in rows, f"{answers}, {rows}")


@case(mpis=(), ranks=1)
def workers_forked_by_a_trainer_change_nothing(scene):
    run(scene, "linked", "fork", scene.dir)
    same(recorded(scene, scene.dir), counted(scene.dir), "call -> (calls, bytes)")
    same(len(scene.profiles()), 1, "profiles")


@case(mpis=(), ranks=1)
def killed_training_keeps_every_call(scene):
    for rank in range(2):
        ran = run(scene, "linked", "killed", scene.dir, torchrun(rank, 2), ok=False)
        same(ran.code, -9 if rank else 0, "exit code")
        same(recorded(scene, scene.dir, rank), {"ncclCommInitRank": (1, 0), "ncclAllReduce": (50, 200000)}, f"rank {rank}")
    same([rank["state"] for rank in ranks_of(scene, scene.dir).values()], ["finalized", "running"], "ended by _exit and killed")


@case(mpis=(), ranks=1)
def whoever_only_tries_nccl_leaves_no_file(scene):
    for act in ("probe", "silent"):
        directory = scene.subdir(act)
        run(scene, "linked", act, directory)
        same(scene.profiles(directory), [], f"profiles of {act}")
        check(counted(directory) if act == "silent" else True, "the double was not called")


@case(mpis=(), ranks=1)
def nccl_is_left_alone_where_the_user_says_so(scene):
    run(scene, "linked", "every", scene.dir, {"MPIPROF_NCCL": "off"})
    same(scene.profiles(), [], "profiles")
    same(counted(scene.dir)["ncclAllReduce"][0], 13, "calls that reached NCCL")


@case(mpis=(), ranks=1)
def a_restart_by_torchrun_does_not_overwrite_the_first_try(scene):
    for restart in range(2):
        for rank in range(2):
            run(scene, "linked", "every", scene.dir, torchrun(rank, 2, TORCHELASTIC_RESTART_COUNT=restart))
    names = [path.name for path in scene.profiles()]
    same(names, ["mpi_profile.train-2.0", "mpi_profile.train-2.1", "mpi_profile.train.0", "mpi_profile.train.1"], "profiles")
    check("--launch" in scene.run_report().out, "the other launch is not named")


@case(mpis=(), ranks=1)
def ranks_that_no_launcher_started_together_are_one_launch(scene):
    """As Kubernetes, DeepSpeed and Ray start them: each by a process of its own, with what env:// reads."""
    for rank in range(2):
        env = {"RANK": rank, "WORLD_SIZE": 2, "MASTER_ADDR": "node0", "MASTER_PORT": 29500}
        start = ["sh", "-c", '"$0" "$@"; exit $?', program(scene, "linked"), "every"]
        ran = scene.alone(start, profiled=False, env=environment(scene, scene.dir, **env))
        same((ran.code, ran.out, ran.err), (0, "", ""), f"rank {rank}")
    same(len({path.name.split(".")[1] for path in scene.profiles()}), 2, "jobs by name")
    text = scene.run_report().succeeded().out
    check("profile complete: 2 of 2 ranks" in text and "--launch" not in text, text)
    same(scene.run_report("check").code, 0, "check's exit code")
    merged = scene.dir / "one.mpiprof"
    scene.run_report("merge", "-o", merged).succeeded()
    check("profile complete: 2 of 2 ranks" in scene.run_report(merged).succeeded().out, "the merged file")


@case(mpis=(), ranks=1)
def a_process_with_several_gpus_is_one_rank(scene):
    for node in range(2):
        run(scene, "linked", "gpus", scene.dir, {"NODE": node, "MPIPROF_JOB": "gpus"})
    same([path.name for path in scene.profiles()], ["mpi_profile.gpus.0", "mpi_profile.gpus.1"], "profiles")
    same(recorded(scene, scene.dir)["ncclAllReduce"], (4, 160), "reductions")


@case(mpis=(), ranks=1)
def a_script_may_say_late_who_it_is(scene):
    run(scene, "linked", "late", scene.dir, {"LATE_RANK": 1, "LATE_WORLD_RANK": 3, "MPIPROF_JOB": "late"})
    same([path.name for path in scene.profiles()], ["mpi_profile.late.3"], "profiles")
    same({int(row["rank"]) for row in scene.export_rows(cwd=scene.dir)}, {3}, "rank")


@case(mpis=(), ranks=1)
def a_communicator_from_before_the_window_is_known_in_it(scene):
    for rank in range(2):
        run(scene, "linked", "window", scene.dir, torchrun(rank, 2, MPIPROF_BEGIN_TIME=0.4))
    same(recorded(scene, scene.dir), {"ncclAllGather": (10, 10 * 800)}, "call -> (calls, bytes)")
    rows = [line for line in scene.run_report("nccl", "--format", "csv").succeeded().out.splitlines() if not line.startswith("# ")]
    known = dict(zip(rows[0].split(","), rows[1].split(",")))
    same((known["size"], known["ranks"], known["made_by"], len(known["id"])), ("2", "2", "ncclCommInitRank", 16), "communicator")


@case(mpis=(), ranks=1)
def functions_of_nccl_are_chosen_as_those_of_mpi(scene):
    run(scene, "linked", "every", scene.dir, {"MPIPROF_FUNCTIONS": "ncclAllReduce,ncclGroup*"})
    same(set(recorded(scene, scene.dir)) - {"ncclCommInitRank", "ncclCommDestroy"}, {"ncclAllReduce", "ncclGroupStart", "ncclGroupEnd"},
         "what is recorded")
    same(recorded(scene, scene.dir)["ncclAllReduce"], counted(scene.dir)["ncclAllReduce"], "reductions")


@case(mpis=(), ranks=1)
def a_second_nccl_in_the_process_works_and_is_not_recorded(scene):
    packages = []
    for name, flags in (("first", []), ("second", ["-DOTHER_NCCL"])):
        library = scene.compile(SOURCES / "fake_nccl.c", "-shared", "-fPIC", "-I", ROOT, *flags, "-lpthread", "-ldl",
                                f"-Wl,-soname,libnccl-{name}.so.2", name=f"libnccl-{name}.so.2", compiler="gcc", label="")
        packages.append(scene.compile(SOURCES / "package.c", "-shared", "-fPIC", "-I", ROOT, library, f"-Wl,-rpath,{scene.bin}",
                                      name=f"package-{name}.so", compiler="gcc", label=""))
    argv = [scene.compile(SOURCES / "program.c", "-w", "-DFETCH", "-I", ROOT, "-ldl", "-lpthread", name="nccl_program.two",
                          compiler="gcc", label=""), "two", *packages]
    ran = scene.alone(argv, profiled=False, env={**environment(scene, scene.dir), "LD_PRELOAD": scene.library})
    same((ran.code, ran.out, ran.err), (0, "", ""), "two packages")
    same(recorded(scene, scene.dir)["ncclAllReduce"], (3, 120), "reductions by the first package's NCCL")


@case(ranks=2)
def nccl_in_an_mpi_job_is_in_the_same_file(scene):
    for act in ("mpi_first", "nccl_first"):
        directory = scene.subdir(act)
        env = environment(scene, directory)
        preload = env.pop("LD_PRELOAD")
        scene.mpirun(2, ["env", f"LD_PRELOAD={preload}", program(scene, "mpi"), act], profiled=None, env=env, cwd=directory).succeeded()
        same(len(scene.profiles(directory)), 2, f"profiles of {act}")
        expected = counted(directory)
        same(recorded(scene, directory), expected, f"{act}: call -> (calls, bytes)")
        same(expected["ncclAllReduce"][0], 6 if act == "mpi_first" else 8, "reductions by NCCL")
        calls = scene.calls(cwd=directory)
        for rank in range(2):
            same((calls[rank, "MPI_Allreduce"], calls[rank, "MPI_Barrier"]), (3, 1), f"calls of MPI of rank {rank}")
        states = scene.run_report("check", cwd=directory)
        same(states.code, 0, f"check says\n{states.out}{states.err}")


def of_mpi(scene, directory, act, **settings):
    env = environment(scene, directory, **settings)
    preload = env.pop("LD_PRELOAD")
    return scene.mpirun(2, ["env", f"LD_PRELOAD={preload}", program(scene, "mpi"), act], profiled=None, env=env, cwd=directory)


@case(ranks=2)
def nccl_goes_on_being_recorded_after_mpi_finalize(scene):
    for store, act in (("mapped", "after_finalize"), ("written", "after_finalize"), ("mapped", "only_after")):
        directory = scene.subdir(f"{store}_{act}")
        of_mpi(scene, directory, act, MPIPROF_STORE=store).succeeded()
        same(recorded(scene, directory), counted(directory), f"{store}, {act}: call -> (calls, bytes)")
        calls = scene.calls(cwd=directory)
        for rank in range(2):
            same(calls[rank, "MPI_Barrier"], 1, f"{store}, {act}: barriers of rank {rank}")
            if act == "after_finalize":
                same((calls[rank, "ncclAllReduce"], calls[rank, "MPI_Allreduce"]), (53, 3), f"{store}: calls of rank {rank}")
        same([name for _, name in calls if name in ("MPI_Finalized", "MPI_Get_version")], [], "calls of MPI after its end")
        same({profile.read_bytes()[128] for profile in scene.profiles(directory)}, {2}, "states: finalized")
        states = scene.run_report("check", cwd=directory)
        same(states.code, 0, f"check says\n{states.out}{states.err}")


@case(ranks=2)
def what_nccl_did_after_mpi_finalize_survives_kill_9(scene):
    of_mpi(scene, scene.dir, "after_finalize", MPIPROF_STORE="mapped", KILLED=1)
    calls = scene.calls()
    same([calls.get((rank, "ncclAllReduce")) for rank in range(2)], [53, 53], "reductions")


@case(ranks=2)
def mpi_is_recorded_where_nccl_is_off(scene):
    env = environment(scene, scene.dir, MPIPROF_NCCL="off")
    preload = env.pop("LD_PRELOAD")
    scene.mpirun(2, ["env", f"LD_PRELOAD={preload}", program(scene, "mpi"), "mpi_first"], profiled=None, env=env).succeeded()
    calls = scene.calls()
    same((calls[0, "MPI_Allreduce"], calls[1, "MPI_Allreduce"]), (3, 3), "calls of MPI")
    same([call for _, call in calls if call.startswith("nccl")], [], "calls of NCCL")


@case(ranks=2)
def libraries_that_are_not_profiled_are_named(scene):
    """An empty libucc.so.1 that the program loads; one of the names that mean nothing here beside it."""
    scene.compile(ROOT / "tests" / "nccl" / "nothing.c", "-shared", "-fPIC", name="libucc.so.1", compiler="gcc", label="")
    scene.compile(ROOT / "tests" / "nccl" / "nothing.c", "-shared", "-fPIC", name="libuccx.so", compiler="gcc", label="")
    scene.mpirun(2, [scene.compile("known.c"), scene.dir / "expected", 1], before=[scene.bin / "libucc.so.1", scene.bin / "libuccx.so"]).succeeded()
    text = " ".join(scene.run_report().succeeded().out.split())
    same(text.count("UCC is loaded on 2 ranks and not profiled"), 1, text)
    same(text.count("not profiled"), 1, text)


@case(mpis=(), ranks=1)
def nvlinks_are_shown_where_nccl_has_loaded_nvml(scene):
    where = scene.bin / "nvml"
    where.mkdir(exist_ok=True)
    scene.compile(ROOT / "tests" / "gpu" / "doubles" / "fake_nvml.c", "-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1",
                  name="nvml/libnvidia-ml.so.1", compiler="gcc", label="")
    path = f"{double(scene)}:{where}"

    def connections(mode):
        directory = scene.subdir(mode)
        for rank in range(2):
            run(scene, "linked", "every", directory, torchrun(rank, 2, LD_LIBRARY_PATH=path, FAKE_NVML=mode))
        lines = scene.run_report("placement", "--format", "csv", cwd=directory).succeeded().out.splitlines()
        pairs = (line.split(",") for line in lines)
        return {(pair[2], pair[3]): pair[4] for pair in pairs if len(pair) > 4 and pair[2].startswith("GPU")}, directory

    found, directory = connections("direct")
    same(found, {("GPU0", "GPU1"): "NV2", ("GPU0", "GPU2"): "NV1", ("GPU1", "GPU2"): "?"}, "NVLinks from GPU to GPU")
    check("NV2: 2 NVLinks" in scene.run_report("placement", cwd=directory).succeeded().out, "the legend")
    found, _ = connections("switch")
    same(set(found.values()), {"NV18"}, "NVLinks to a switch")
    same(len(found), 6, "pairs of four GPUs")
    same(connections("uninitialized")[0], {}, "without a driver nothing is said")
