"""Functions fetched by dlsym: seen with libmpiprof-dlsym.so beside the library, and untouched without it."""

import os

from harness import Skip, case, check, differences, execute, read_tables, same, without_start_and_end


def hook(scene):
    path = scene.library.with_name("libmpiprof-dlsym.so")
    if not path.exists():
        raise Skip(f"{path} is not built")
    return path


def mpi_library(scene):
    """The path of the MPI library that programs of this MPI are linked with."""
    linked = execute(["ldd", scene.compile("ring.c")]).succeeded().out
    return next(words[2] for words in map(str.split, linked.splitlines()) if len(words) > 2 and words[0].startswith("libmpi"))


def check_book(scene, directory):
    expected = read_tables(directory / "expected.*.csv")
    found = without_start_and_end(scene.export(cwd=directory))
    check(found == expected, f"{directory.name}, (rank, call, bin) -> (calls, bytes):\n" + differences(found, expected))


@case(ranks=2)
def fetched_functions_are_profiled(scene):
    program = scene.compile("fetch.c", "-std=gnu11", "-w", "-ldl", compiler="gcc", label="")
    argv = [program, scene.mpi, mpi_library(scene), "expected"]
    plain = scene.mpirun(2, argv, profiled=None).succeeded()
    same(plain.out, "fetch: 2 ranks, right, 0 wrong answers\n", "stdout without the library")

    for name, preload in (("hook_first", [hook(scene), scene.library]), ("hook_last", [scene.library, hook(scene)])):
        directory = scene.subdir(name)
        ours = scene.mpirun(2, argv, profiled=None, cwd=directory, env={"LD_PRELOAD": ":".join(map(str, preload))}).succeeded()
        same((ours.out, ours.err), (plain.out, plain.err), f"output with {name}")
        check_book(scene, directory)

    directory = scene.subdir("hook_alone")
    alone = scene.mpirun(2, argv, profiled=None, cwd=directory, env={"LD_PRELOAD": hook(scene)}).succeeded()
    same((alone.out, alone.err), (plain.out, plain.err), "output with the hook alone")
    same(scene.profiles(directory), [], "profiles with the hook alone")


@case(ranks=2)
def disabled_hook_changes_nothing(scene):
    program = scene.compile("fetch.c", "-std=gnu11", "-w", "-ldl", compiler="gcc", label="")
    argv = [program, scene.mpi, mpi_library(scene), "expected"]
    env = {"LD_PRELOAD": f"{hook(scene)}:{scene.library}", "MPIPROF_DISABLE": 1}
    ran = scene.mpirun(2, argv, profiled=None, env=env).succeeded()
    check(ran.out.startswith("fetch: 2 ranks, right") and ran.err == "", f"output is {ran.out!r} {ran.err!r}")
    same(scene.profiles(), [], "profiles")


PYTHON = """
import ctypes, sys
mpi = ctypes.CDLL(sys.argv[2])
def handle(name, value):
    return ctypes.c_int(value) if sys.argv[1] == "mpich" else ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, name)))
world, double, total = handle("ompi_mpi_comm_world", 0x44000000), handle("ompi_mpi_double", 0x4c00080b), handle("ompi_mpi_op_sum", 0x58000003)
mpi.MPI_Init(None, None)
rank = ctypes.c_int()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
out, result = (ctypes.c_double * 4)(1, 2, 3, 4), (ctypes.c_double * 4)()
for i in range(30):
    mpi.MPI_Allreduce(out, result, 4, double, total, world)
if rank.value == 0: print("ctypes:", list(result), flush=True)
mpi.MPI_Finalize()
"""


@case(ranks=2)
def ctypes_is_profiled(scene):
    python = scene.python_with("ctypes")
    argv = [python, "-c", PYTHON, scene.mpi, mpi_library(scene)]
    plain = scene.mpirun(2, argv, profiled=None).succeeded()
    same(plain.out, "ctypes: [2.0, 4.0, 6.0, 8.0]\n", "stdout without the library")

    ours = scene.mpirun(2, argv, profiled=None, env={"LD_PRELOAD": f"{scene.library}:{hook(scene)}"}).succeeded()

    same((ours.out, ours.err), (plain.out, plain.err), "output")
    found = without_start_and_end(scene.export())
    expected = {(rank, call, size): value for rank in (0, 1)
                for call, size, value in (("MPI_Allreduce", 32, (30, 960)), ("MPI_Comm_rank", 0, (1, 0)))}
    same(found, expected, "(rank, call, bin) -> (calls, bytes)")


@case(mpis=(), ranks=1)
def hook_leaves_other_programs_alone(scene):
    env = {"LD_PRELOAD": hook(scene)}
    for command in (["/bin/true"], ["sh", "-c", "exit 3"], ["gcc", "--version"],
                    ["python3", "-c", "import ssl, ctypes, json; print(ctypes.CDLL(None).abs(-4))"]):
        plain = scene.alone(command, profiled=False)
        ours = scene.alone(command, profiled=False, env=env)
        same((ours.code, ours.out, ours.err), (plain.code, plain.out, plain.err), " ".join(command))
    same(os.listdir(scene.dir), [], "files")
