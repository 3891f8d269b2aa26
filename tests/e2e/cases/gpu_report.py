"""What the report makes of times on the GPU, from profiles that the library wrote against the doubles of tests/gpu."""

import json

from cases.gpu import IDLE, doubles, mpi_program, run, traced
from cases.nccl import torchrun
from cases.text import agree
from harness import case, check, same


def two_ranks(scene):
    """Rank 0 by events, whose times have the idle time before a kernel in them, rank 1 by CUPTI: as if 0 waited for 1."""
    for rank, how in ((0, run), (1, traced)):
        directory = scene.subdir(f"rank{rank}")
        how(scene, "lone", directory=directory, env=torchrun(rank, 2))
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
    total = 9 * 3000 + 6 * IDLE + 9 * 3000
    same((reduce["total_operations"], reduce["total_bytes"], reduce["total_gpu_ns"]), (18, 18 * 4000, total), "AllReduce")
    check(abs(reduce["algbw_bytes_per_s"] / (18 * 4000 / (total * 1e-9)) - 1) < 1e-6, f"algbw {reduce}")
    same(reduce["busbw_bytes_per_s"], reduce["algbw_bytes_per_s"], "bus factor on 2 ranks")
    same(sorted(rows), ["ncclAllGather", "ncclAllReduce", "ncclBcast"], "operations")
    same([(r["rank"], r["last"], r["waited_ns"]) for r in tables["nccl_late"]], [(1, 11, 11 * IDLE), (0, 3, 0)], "who came last")
    same([(w["work"], w["count"]) for w in tables["gpu_work"]], [("kernels of NCCL", 14)], "all that the one GPU did that CUPTI saw")
    calls = {row["call"]: row for row in tables_of(scene, "calls")["calls"]}
    same(calls["ncclAllReduce"]["algbw_bytes_per_s"], reduce["algbw_bytes_per_s"], "the same in calls")


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
