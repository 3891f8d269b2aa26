"""What the library costs beside the host code of a real NCCL (bench/nccl --real DIR): two processes on the doubles of tests/gpu, whose
driver costs nothing, so that what NCCL itself does for an operation is all that there is to compare with."""

import os
import re
import subprocess
import sys

from workshop import PASSED_ON, ROOT, Instructions, pad, print_table

LENGTHS = (5, 30)  # in blocks of 100 operations
CALLGRIND = ["valgrind", "--tool=callgrind", "--callgrind-out-file=callgrind.out", "-q"]
SCENE = {"NCCL_P2P_DISABLE": "1", "NCCL_CUMEM_ENABLE": "0", "NCCL_CUMEM_HOST_ENABLE": "0", "NCCL_SOCKET_IFNAME": "lo", "NCCL_IB_DISABLE": "1",
         "NCCL_CONF_FILE": "/dev/null", "MASTER_ADDR": "localhost", "WORLD_SIZE": "2"}
# Each way with its budget's name.
WAYS = (("without mpiprof", None, None), ("MPIPROF_NCCL=off", {"MPIPROF_NCCL": "off"}, None),
        ("calls alone", {"NCCL_PROFILER_PLUGIN": "none", "MPIPROF_GPU": "off"}, "real_nccl_calls"),
        ("and what NCCL tells", {"MPIPROF_GPU": "off"}, "real_nccl_told"), ("and times on the GPU", {}, "real_nccl_timed"))


def build(shop, home):
    with open(os.path.join(home, "lib", "libnccl.so.2"), "rb") as library: runtime = re.search(rb"libcudart\.so\.(\d+)", library.read())
    if not runtime: sys.exit("%s: only an NCCL that uses the shared CUDA runtime can be measured (docs/nccl-internals.md)" % home)
    soname, script = "libcudart.so." + runtime[1].decode(), os.path.join(shop.path, "cudart.map")
    with open(os.path.join(ROOT, "tests/gpu/doubles/cudart.map"), encoding="utf-8") as source, open(script, "w", encoding="utf-8") as target:
        target.write(source.read().replace("MAJOR", runtime[1].decode()))
    driver = shop.double("gpu/doubles/driver_for_nccl.c", "libcuda.so.1")
    shop.double("gpu/doubles/fake_nvml.c", "libnvidia-ml.so.1")
    graphs = ["-DCUDART=" + runtime[1].decode(), os.path.join(ROOT, "tests/gpu/doubles/graphs_cudart.c")]
    cudart = shop.double("gpu/doubles/fake_cudart.c", soname, driver, *graphs, "-Wl,--version-script=" + script)
    program = os.path.join(shop.path, "real_nccl")
    subprocess.run(["cc", "-O2", "-w", "-I", ROOT, "-I", os.path.join(ROOT, "tests/gpu/doubles/runtime"), "-I", os.path.join(home, "include"), "-o", program,
                    os.path.join(ROOT, "tests/gpu/real_nccl.c"), "-L", os.path.join(home, "lib"), "-l:libnccl.so.2", "-Wl,--allow-shlib-undefined", driver, cudart,
                    "-lpthread"], check=True)
    return program


def pace(shop, program, home, library, settings, blocks, prefix=()):
    """Rank 0 does so many blocks of 100 operations, under `prefix`; its output."""
    here = os.path.join(shop.path, "real")
    subprocess.run(["rm", "-rf", here], check=True)
    os.makedirs(here)
    env = {**{name: os.environ.get(name, "") for name in PASSED_ON}, **SCENE, "LD_LIBRARY_PATH": os.path.join(home, "lib") + ":" + shop.path}
    if settings is not None: env.update(settings, LD_PRELOAD=library)
    command = [program, "pace", os.path.join(here, "id"), "%03d" % blocks]
    pad(env, [*prefix, *command, "RANK0"])
    other = subprocess.Popen(command, cwd=here, env={**env, "RANK": "1"}, stdout=subprocess.DEVNULL)
    first = subprocess.run([*prefix, *command], cwd=here, env={**env, "RANK": "0"}, text=True, stdout=subprocess.PIPE, check=True, timeout=900)
    if other.wait(timeout=900) != 0: sys.exit("rank 1 ended with %d" % other.returncode)
    return first.stdout


def count(shop, program, home, library, settings, least):
    """Runs each length once more, and keeps what took fewest (inside libmpiprof.so, all): each by itself, since a difference of two
    counts of which the smaller one was disturbed is too small."""
    for blocks in LENGTHS:
        pace(shop, program, home, library, settings, blocks, CALLGRIND)
        dump = Instructions(os.path.join(shop.path, "real", "callgrind.out"))
        found = (dump.inside, dump.total)
        least[blocks] = min(found, least.get(blocks, found))


def by_operation(least):
    """Of one operation: of those that the long run has more, so that what happens once does not count."""
    few, many = LENGTHS
    return tuple((after - before) / (100 * (many - few)) for before, after in zip(least[few], least[many]))


def tells_launches(home):
    """Whether this NCCL tells of the launches of its kernels; else events lie around the call."""
    with open(os.path.join(home, "include", "nccl.h"), encoding="utf-8") as header: return int(re.search(r"NCCL_MINOR (\d+)", header.read())[1]) >= 28


def measure(shop, home, library, budgets, is_check):
    """Which budgets are exceeded; without nanoseconds where this is a check."""
    program, rows, exceeded = build(shop, home), [], []
    for name, settings, budget in WAYS:
        if is_check and not budget: continue
        if budget == "real_nccl_timed" and not tells_launches(home): budget = "real_nccl_around"
        # What is done by time, such as bins and looks at events, comes more often where other work slows callgrind down.
        least = {}
        for _ in range(7):
            count(shop, program, home, library, settings, least)
            inside, total = by_operation(least)
            if not budget or inside <= budgets[budget] + 0.5: break
        if budget and inside > budgets[budget] + 0.5: exceeded.append("%s: %.1f of %d" % (budget, inside, budgets[budget]))
        ns = "" if is_check else "%.0f" % min(float(re.search(r"fastest_ns=(\S+)", pace(shop, program, home, library, settings, 300))[1]) for _ in range(5))
        rows.append((name, "%.0f" % inside, budgets.get(budget, ""), "%.0f" % total, ns))
    print_table("per ncclAllReduce, host code of NCCL in " + home, ("way", "in libmpiprof.so", "budget", "in all", "ns in all"), rows)
    return exceeded
