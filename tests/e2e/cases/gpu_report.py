"""What the report makes of times on the GPU, from profiles that the library wrote against the doubles of tests/gpu."""

import json
import sys

from cases.gpu import IDLE, cupti, doubles, mpi_program, run, traced
from cases.nccl import torchrun
from cases.recordings import recorder
from cases.text import agree
from harness import ROOT, case, check, same


def two_ranks(scene, ranks=((run, {"FAKE_NCCL_PROFILER": 4}), (traced, {}))):
    """Rank 0 by events around calls, whose times have the idle time before a kernel in them and miss the first, rank 1 by CUPTI."""
    for rank, (how, env) in enumerate(ranks):
        directory = scene.subdir(f"rank{rank}")
        how(scene, "lone", directory=directory, env=torchrun(rank, 2, **env))
        for file in directory.glob("mpi_profile.*"):
            file.rename(scene.dir / file.name)


def tables_of(scene, section):
    answer = json.loads(scene.run_report(section, "--format", "json").succeeded().out)
    return {name: rows for name, rows in answer.items() if isinstance(rows, list)}


@case(mpis=(), ranks=1)
def report_shows_how_long_the_gpu_was_at_nccls_operations(scene):
    two_ranks(scene)
    tables = tables_of(scene, "nccl")
    rows = {row["operation"]: row for row in tables["nccl_gpu"]}
    reduce = rows["ncclAllReduce"]
    total = 8 * 3000 + 5 * IDLE + 9 * 3000
    same((reduce["total_operations"], reduce["total_bytes"], reduce["total_gpu_ns"]), (17, 17 * 4000, total), "AllReduce")
    check(abs(reduce["algbw_bytes_per_s"] / (17 * 4000 / (total * 1e-9)) - 1) < 1e-6, f"algbw {reduce}")
    same(reduce["busbw_bytes_per_s"], None, "the bandwidth of the bus, from a time that is at most")
    same(sorted(rows), ["ncclAllGather", "ncclAllReduce", "ncclBcast"], "operations")
    check("nccl_late" not in tables, "idle time before a kernel is taken for waiting for another rank")
    check("times from CUDA events are upper bounds" in " ".join(scene.run_report("nccl").succeeded().out.split()), "the screen does not say so")
    same([(w["work"], w["count"]) for w in tables["gpu_work"]], [("kernels of NCCL", 14)], "all that the one GPU did that CUPTI saw")
    calls = {row["call"]: row for row in tables_of(scene, "calls")["calls"]}
    same(calls["ncclAllReduce"]["algbw_bytes_per_s"], reduce["algbw_bytes_per_s"], "the same in calls")


@case(mpis=(), ranks=1)
def report_tells_bus_bandwidth_and_who_came_last_where_kernels_were_timed_on_all_ranks(scene):
    waits = {"FAKE_NCCL_WAITS": 50000}
    two_ranks(scene, ((run, waits), (traced, {})))
    tables = tables_of(scene, "nccl")
    reduce = {row["operation"]: row for row in tables["nccl_gpu"]}["ncclAllReduce"]
    check(0 < reduce["busbw_bytes_per_s"] == reduce["algbw_bytes_per_s"], f"bus factor on 2 ranks: {reduce}")
    same([(late["rank"], late["last"], late["compared"]) for late in tables["nccl_late"]], [(1, 12, 12)], "who came last, but to broadcasts")
    check("<=" not in scene.run_report("nccl").succeeded().out, "times by launches and by CUPTI are what they are")


@case(mpis=(), ranks=1)
def nobody_came_last_where_all_came_at_once(scene):
    two_ranks(scene, ((traced, {}), (run, {})))  # which differ by the 500 ns of a launch
    check("nccl_late" not in tables_of(scene, "nccl"), "somebody is named")


@case(ranks=2)
def text_for_people_has_a_block_of_nccl_by_the_library_and_by_the_report(scene):
    nccl, cuda = doubles(scene)
    program = mpi_program(scene)
    env = {"LD_LIBRARY_PATH": f"{nccl}:{cuda}", "FAKE_GPU": 1, "MPIPROF_TEXT": "all", "PBS_JOBID": 4711}
    scene.mpirun(2, [program, "mpi"], profiled="ranks", env=env).succeeded()
    for rank in range(2):
        ours = (scene.dir / f"mpi_profile.4711.{rank}.txt").read_text()
        check("NCCL Routine " in ours and "total NCCL time on the GPU  = 0.000 seconds." in ours, f"the text of rank {rank}:\n{ours}")
        check("ncclAllReduce                           5         4000.0" in ours, f"the text of rank {rank}:\n{ours}")
        agree(ours, scene.run_report("text", "--rank", str(rank), "--all-ranks-table", "never").succeeded().out)


def on_doubles(scene, *stages, **more):
    """tests/gpu/run, with doubles of PyTorch, NCCL, CUDA and CUPTI."""
    paths = ":".join(map(str, (*doubles(scene), cupti(scene))))
    env = {"LD_LIBRARY_PATH": paths, "FAKE_GPU": 1, "PYTHONPATH": ROOT / "tests" / "gpu" / "doubles", "PYTHONDONTWRITEBYTECODE": 1, **more}
    return scene.alone([sys.executable, ROOT / "tests" / "gpu" / "run", "--library", scene.library, "--out", scene.dir / "out", *stages],
                       profiled=False, env=env)


@case(mpis=(), ranks=1)
def script_for_gpu_machines_runs_and_finds_what_is_wrong(scene):
    ran = on_doubles(scene, "facts", "one_rank", "two_ranks", "functions", "first_use", "uint8", "ddp_buffers", "agreement", "overhead")
    same(ran.code, 0, ran.out + ran.err)
    figures = {name: stage["figures"] for name, stage in json.loads((scene.dir / "out" / "figures.json").read_text()).items()}
    same([figures["two_ranks"][way]["timed"] for way in ("cupti_off", "cupti_on")], [50, 50], "operations with a time")
    same([figures["one_rank"][way] for way in ("cupti_off", "cupti_on")], ["events at kernel launches", "CUPTI 13.0"], "sources")
    same(sorted(figures["overhead"]["ratio"]), ["calls", "cupti", "events", "off"], "ways to look")
    same(figures["agreement"]["p50_us_above_cupti"], {"events": IDLE / 1000, "launches": IDLE / 1000}, "events include the launch on an idle stream")
    ran = on_doubles(scene, "pointers")  # which the double of CUDA cannot
    check(ran.code == 1 and "pointers         FAILED" in ran.out, f"{ran.code}: {ran.out}")


@case(mpis=(), ranks=1)
def script_for_gpu_machines_records_what_nccl_and_cupti_say(scene):
    at = ("--recorder", recorder(scene))
    ran = on_doubles(scene, "record", *at)
    same(ran.code, 0, ran.out + ran.err)
    figures = json.loads((scene.dir / "out" / "figures.json").read_text())["record"]["figures"]
    same([figures[name] for name in ("lies_in", "operations", "launches", "kernels", "buffers")], [f"{scene.dir}/out/record", 15, 15, 15, 1], "recorded")
    check(f"cp {scene.dir}/out/record/rank.* tests/gpu/recordings/nccl-2.28.9.cupti-130001.record" in figures["to_commit_it"], figures["to_commit_it"])
    for name, env, says in (("missing", {"--recorder": scene.dir / "none.so"}, "record           skipped"),
                            ("dropped", {"FAKE_CUPTI_DROPPED": 3}, "rank.0 lacks 3 records that CUPTI dropped"),
                            ("no_cupti", {"RECORDING_CUPTI": "none"}, "rank.0 has no CUPTI: RECORDING_CUPTI may name it"),
                            ("silent", {"FAKE_NCCL_PROFILER": 0}, "NCCL 2.28.9 left recordings of ranks []")):
        words = ("--recorder", env.pop("--recorder", at[1]), "--out", scene.dir / name)
        ran = on_doubles(scene, "record", *words, **env)
        same((ran.code, says in ran.out), (0 if name == "missing" else 1, True), f"{name}: {ran.out}{ran.err}")


@case(mpis=(), ranks=1)
def script_for_gpu_machines_says_that_there_is_none(scene):
    ran = scene.alone([sys.executable, ROOT / "tests" / "gpu" / "run", "--library", scene.library], profiled=False)
    same((ran.code, ran.out), (77, "skipped: no GPU that PyTorch could use here\n"), ran.err)
