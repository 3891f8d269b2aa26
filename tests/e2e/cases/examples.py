"""The examples do what their pages say, and their profiles say what they did."""

import shutil

from harness import ROOT, Skip, case, check, same

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
