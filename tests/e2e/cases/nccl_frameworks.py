"""NCCL as frameworks use it: by a library that a script calls, beside an MPI that knows of one process, and beside what moves data
between GPUs by itself."""

import csv
import os
import re

from cases.nccl import SOURCES, counted, double, environment, program, recorded, torchrun
from harness import ROOT, case, check, same

TRAIN = """import torch_like as dist
dist.begin()
def step():
    dist.all_reduce()  # the reduction
for _ in range(3): step()
dist.backward()  # in a thread of the library's
dist.end()
"""
# An installed package, as PyTorch's: the program's own line lies behind its functions.
PACKAGE = """import ctypes, os
library = ctypes.PyDLL({library!r})
def begin(): library.c10d_begin(int(os.environ["WORLD_SIZE"]), int(os.environ["RANK"]))
def wrapper(more=9): wrapper(more - 1) if more else library.c10d_all_reduce()
def all_reduce(): wrapper()
def backward(): library.c10d_backward()
def end(): library.c10d_end()
"""


@case(mpis=(), ranks=1)
def reductions_of_torch_have_the_line_of_the_script(scene):
    where = double(scene)
    library = scene.compile(SOURCES / "torch.c", "-shared", "-fPIC", "-g", "-I", ROOT, "-L", where, "-lnccl", "-lpthread", f"-Wl,-rpath,{where}",
                            name="libtorch_cuda.so", compiler="gcc", label="")
    package = scene.subdir("lib/site-packages")
    (package / "torch_like.py").write_text(PACKAGE.format(library=str(library)))
    (scene.dir / "train.py").write_text(TRAIN)
    for rank in range(2):
        env = environment(scene, scene.dir, **torchrun(rank, 2, PYTHONPATH=package))
        ran = scene.alone(["/usr/bin/python3", scene.dir / "train.py"], profiled=False, env=env)
        same((ran.code, ran.out, ran.err), (0, "", ""), f"rank {rank}")
    same(recorded(scene, scene.dir)["ncclAllReduce"], counted(scene.dir)["ncclAllReduce"], "reductions")
    text = scene.run_report("sites", "--width", "200").succeeded().out
    line = next(line for line in text.splitlines() if line.split()[:2] == ["ncclAllReduce", "6"])
    check(line.rstrip().endswith("train.py:4 step"), text)
    check("torch_like.py" not in text, f"lines of the package on the screen:\n{text}")
    check("reduce_bucket" in text, f"the library's own thread has no line of the script:\n{text}")
    rows = list(csv.DictReader(scene.run_report("sites", "--format", "csv").succeeded().out.splitlines()))
    stacks = [row["stack"] for row in rows if row["call"] == "ncclAllReduce" and row["calls_total"] == "6"]
    frames = ["torch_like.py:4 wrapper"] * 10 + ["torch_like.py:5 all_reduce", "train.py:4 step", "train.py:5 <module>"]
    same(stacks, [" < ".join(frames)], "data has all frames")


@case(ranks=2)
def a_process_that_is_a_world_of_mpis_is_a_rank_of_nccls_job(scene):
    """torchrun, and a script that imports mpi4py: MPI_Init makes each process a world of its own, before NCCL or behind it."""
    behind = scene.subdir("behind")
    for rank in range(2):
        env = environment(scene, behind, **torchrun(rank, 2))
        ran = scene.alone([program(scene, "mpi"), "nccl_then_mpi"], profiled=False, cwd=behind, env=env)
        same((ran.code, ran.out, ran.err), (0, "", ""), f"rank {rank}, MPI behind NCCL")
    same([path.name for path in scene.profiles(behind)], ["mpi_profile.train.0", "mpi_profile.train.1"], "profiles, MPI behind NCCL")
    text = scene.run_report(cwd=behind).succeeded().out
    check("profile complete: 2 of 2 ranks" in text and "--launch" not in text, text)
    for rank in range(2):
        env = environment(scene, scene.dir, **torchrun(rank, 2))
        ran = scene.alone([program(scene, "mpi"), "worlds_of_one"], profiled=False, env=env)
        same((ran.code, ran.out, ran.err), (0, "", ""), f"rank {rank}")
    same([path.name for path in scene.profiles()], ["mpi_profile.train.0", "mpi_profile.train.1"], "profiles")
    calls = scene.calls()
    for rank in range(2):
        same((calls[rank, "MPI_Allreduce"], calls[rank, "MPI_Barrier"], calls[rank, "ncclAllReduce"]), (3, 1, 3), f"calls of rank {rank}")
    text = scene.run_report().succeeded().out
    check("profile complete: 2 of 2 ranks" in text and "--launch" not in text and "[wrong-launcher]" not in text, text)
    same(scene.run_report("check").code, 0, "check's exit code")
    text = scene.run_report("comms", "--width", "120").succeeded().out
    world, = (line.split() for line in text.splitlines() if line.split()[:1] == ["MPI_COMM_WORLD"])
    same(world[1:3], ["2", "1"], "MPI's worlds and their size")


@case(mpis=(), ranks=1)
def communication_that_kernels_make_by_themselves_is_said(scene):
    """Doubles without a function, by the names of NVSHMEM, which every PyTorch loads, DeepEP and vLLM; a module of that name that is not vLLM's beside them."""
    nothing = ROOT / "tests" / "nccl" / "nothing.c"
    loaded = [scene.compile(nothing, "-shared", "-fPIC", name=name, compiler="gcc", label="")
              for name in ("libnvshmem_host.so.3", "deep_ep_cpp.cpython-312-x86_64-linux-gnu.so", "_C.abi3.so", "libtorch_nvshmem.so", "nvshmem_bootstrap_uid.so.3")]
    bootstrap, torch = loaded.pop(), loaded.pop()
    vllm = scene.subdir("vllm")
    (vllm / "_C.abi3.so").write_bytes(loaded.pop().read_bytes())
    for name, modules, named in (("none", [scene.bin / "_C.abi3.so"], []), ("two", loaded, ["NVSHMEM", "DeepEP"]),
                                 ("torch", [torch, loaded[0]], []), ("torch_with_it", [torch, loaded[0], bootstrap], ["NVSHMEM"]),
                                 ("both", [loaded[0], bootstrap], ["NVSHMEM"]), ("inference", [vllm / "_C.abi3.so"], ["vLLM's own all-reduce"])):
        directory = scene.subdir(name)
        env = environment(scene, directory, **torchrun(0, 1))
        env["LD_PRELOAD"] = ":".join([str(env["LD_PRELOAD"]), *map(str, modules)])
        scene.alone([program(scene, "linked"), "every"], profiled=False, cwd=directory, env=env).succeeded()
        text = " ".join(scene.run_report(cwd=directory).succeeded().out.split())
        same([name for name in ("NVSHMEM", "DeepEP", "vLLM's own all-reduce") if name + " is loaded or used on 1 rank" in text], named, text)
        same(bool(re.search(r" at least [0-9.<]+% of the run is inside", text)), bool(named), text)


@case(mpis=(), ranks=1)
def getenv_answers_as_without_us(scene):
    """But for one name, to whom who asks by that function: NCCL."""
    program = scene.compile(SOURCES / "asks.c", name="asks", compiler="gcc", label="")
    names = ("HOME", "EMPTY", "MISSING", "", "HOM", "HOME=", "TWICE", "NCCL_PROFILER_PLUGI", "NCCL_PROFILER_PLUGIN")
    env = {"HOME": "/home/me", "EMPTY": "", "NCCL_PROFILER_PLUGINS": "x"}
    alone = scene.alone([program, *names], profiled=False, env=env).succeeded().out.splitlines()
    ours = str(scene.library)
    for settings, plugin in (({}, ours), ({"MPIPROF_NCCL": "off"}, "(none)"), ({"MPIPROF_DISABLE": "1"}, "(none)"), ({"NCCL_PROFILER_PLUGIN": "libtheirs.so"}, "libtheirs.so"),
                             ({"NCCL_PROFILER_PLUGIN": "libtheirs.so", "MPIPROF_NCCL_PLUGIN": "forward"}, ours)):
        ran = scene.alone([program, *names], profiled=False, env={**env, **settings, "LD_PRELOAD": scene.library}).succeeded()
        same(ran.out.splitlines(), [*alone[:-2], "NCCL_PROFILER_PLUGIN=" + plugin, alone[-1]], f"with {settings}")
    if os.geteuid() != 0: return
    # With more rights than its caller: libc's secure_getenv() says nothing there, and getenv() does. The preload is ignored, so it is linked.
    linked = scene.compile(SOURCES / "asks.c", "-Wl,--no-as-needed", scene.library, f"-Wl,-rpath,{scene.library.parent}", name="asks_linked", compiler="gcc", label="")
    os.chown(linked, 65534, 65534)
    linked.chmod(0o6755)
    ran = scene.alone([linked, *names], profiled=False, env=env).succeeded()
    same(ran.out.splitlines(), [*alone[:-2], "NCCL_PROFILER_PLUGIN=" + ours, alone[-1]], "in a setuid program")
