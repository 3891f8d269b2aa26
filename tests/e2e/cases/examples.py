"""The examples do what their pages say, and their profiles say what they did."""

import os
import shutil

from harness import ROOT, Skip, case, check, execute, same

TENSORS = (288, 32, 18432, 64, 1179648, 128, 1280, 10)
EXAMPLE = ROOT / "examples" / "data_parallel"


def check_profile(scene, ranks, steps):
    """The averaged gradients are known to the byte; how often the ranks negotiated is theirs to decide."""
    rows = scene.export()
    for rank in range(ranks):
        sizes = {bin_max: value for (r, call, bin_max), value in rows.items() if (r, call) == (rank, "MPI_Allreduce")}
        negotiations, negotiated = sizes.pop(8)
        same(negotiated, 8 * negotiations, f"bytes of {negotiations} 8-byte Allreduces on rank {rank}")
        check(negotiations >= steps, f"{negotiations} negotiations for {steps} steps on rank {rank}")
        same(sizes.pop(16), (1 + steps // 10, 16 * (1 + steps // 10)), f"Allreduces of metrics on rank {rank}")
        same(sum(size for _, size in sizes.values()), 4 * steps * sum(TENSORS), f"bytes of averaged gradients on rank {rank}")
        large = {bin_max: value for bin_max, value in sizes.items() if bin_max > 1 << 20}
        same(large, {8 << 20: (steps, 4 * steps * max(TENSORS))}, f"Allreduces of the large tensor on rank {rank}")
        broadcast = [value for (r, call, bin_max), value in rows.items() if (r, call, bin_max) == (rank, "MPI_Bcast", 8 << 20)]
        same(broadcast, [(3, 3 * 4 * max(TENSORS))], f"Bcasts of the large tensor on rank {rank}")


@case(ranks=4)
def data_parallel_example_in_c(scene):
    program = scene.dir / "build" / "data_parallel"
    shutil.copytree(EXAMPLE, program.parent, ignore=shutil.ignore_patterns("data_parallel"))
    scene.alone(["make", "-C", program.parent, f"MPICC={scene.mpicc()}"], profiled=False).succeeded()
    plain = scene.mpirun(4, [program, 10], profiled=None).succeeded()
    same(plain.out, "data_parallel: 4 ranks, 10 steps, loss 35.000 -> 22.602\n", "stdout without the library")

    ran = scene.mpirun(4, [program, 10]).succeeded()

    same((ran.out, ran.err), (plain.out, plain.err), "output")
    check_profile(scene, 4, 10)


@case(ranks=4)
def data_parallel_example_in_python(scene):
    python = scene.python_with("mpi4py", "numpy")
    program = [python, EXAMPLE / "data_parallel.py", 20]
    plain = scene.mpirun(4, program, profiled=None).succeeded()
    if "1 ranks" in plain.out:
        raise Skip("this mpi4py was built for the other MPI")

    ran = scene.mpirun(4, program).succeeded()

    same((ran.out, ran.err), (plain.out, plain.err), "output")
    check_profile(scene, 4, 20)


@case(ranks=2, attempts=3)
def heat_example_has_its_slow_rank_named_with_the_line(scene):
    """And computes the same where every rank has as much to do."""
    program = scene.dir / "build" / "heat"
    shutil.copytree(ROOT / "examples" / "heat", program.parent)
    scene.alone(["make", "-C", program.parent, f"MPICC={scene.mpicc()}"], profiled=False).succeeded()
    ran = scene.mpirun(2, [program, 200]).succeeded()

    rows = {(call, bin_max): value for (rank, call, bin_max), value in scene.export().items() if rank == 1}
    same(rows["MPI_Allreduce", 8], (20, 160), "(calls, bytes) of rank 1's Allreduces")
    same(sum(calls for (call, _), (calls, _) in rows.items() if call == "MPI_Sendrecv"), 400, "Sendrecvs of rank 1")
    told = " ".join(scene.run_report().succeeded().out.split())
    check("Rank 1 spends up to" in told or "rank 1 computes" in told, told)
    check("heat.c:" in scene.run_report("sites").succeeded().out, "no line of the source")
    even = scene.mpirun(2, [program, 200, "cost"], cwd=scene.subdir("even")).succeeded()
    same(even.out.split("last change")[1], ran.out.split("last change")[1], "result")


FIVE = """#!/bin/sh
# The mpirun of this machine, as strict as Open MPI 5 is on two cores.
if [ "$1" = --version ]; then echo "mpirun (Open MPI) 5.0.7"; exit; fi
if [ "$PRTE_MCA_rmaps_default_mapping_policy" != :oversubscribe ]; then echo "not enough slots" >&2; exit 1; fi
exec MPIRUN "$@"
"""


@case(ranks=4, slow=("mpich",))
def lines_that_quickstart_shows_work_when_they_are_copied(scene):
    """Into a shell somewhere else, where another library is preloaded already, with two cores, and for Open MPI 5, too. The
    folder's name has a blank in it."""
    tools = scene.subdir("tools")
    mpirun = scene.tool(f"mpirun.{scene.launched_by()}")
    for name, text in (("nproc", "#!/bin/sh\necho 2\n"), ("mpirun.five", FIVE.replace("MPIRUN", mpirun))):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    env = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    env["PATH"] = f"{tools}:{os.environ['PATH']}"
    names = [mpirun] + ([tools / "mpirun.five"] if scene.launched_by() == "openmpi" else [])
    for number, name in enumerate(names):
        job = scene.dir / f"a job {number}"
        shown = execute([ROOT / "tools" / "show-example", scene.mpicc(), name, scene.library, scene.report, job], env=env).succeeded()
        check("2 ranks" in shown.out and "MPI_Sendrecv" in shown.out, f"no report is shown:\n{shown.out}{shown.err}")
        lines = [line[4:] for line in shown.out.partition("running:\n")[2].partition("\n\n")[0].splitlines()]
        first = {path.name for path in scene.profiles(job)}
        copied = execute(["bash", "-ec", "\n".join(lines)], cwd="/", env={**env, "LD_PRELOAD": "libm.so.6"}).succeeded()
        check("2 ranks" in copied.out and "MPI_Sendrecv" in copied.out, f"no report by the lines\n{lines}\n{copied.out}{copied.err}")
        same(len({path.name for path in scene.profiles(job)} - first), 2, "profiles of the second run")
