"""The real NCCL: its own host code, with kernels that have no code, on the doubles of CUDA and NVML in tests/gpu, in two processes
that connect through shared memory. MPIPROF_REAL_NCCL names the directories that it lies in, separated by colons, each with
include/nccl.h and lib/libnccl.so.2 (and libnccl_static.a, where it is to be tried), as docs/nccl-internals.md says how to make them."""

import json
import os
import pathlib
import random
import re

from cases.gpu import SOURCES, by_call, missing
from cases.nccl import torchrun
from cases.nccl_profiler import other_plugin, told_to_the_other
from harness import ROOT, Skip, case, check, same
from tables import EXCHANGE, REPLAYS, Tables

SIZES = {"ncclAllReduce": 4 << 18, "ncclAllGather": 4 << 16, "ncclReduceScatter": 8 << 16, "ncclBroadcast": 1000, "ncclReduce": 4000}
TWENTY_OF_EACH = {(rank, call): (20, 20 * size) for rank in range(2) for call, size in SIZES.items()}
DURATIONS = {"ncclAllReduce": 50000, "ncclAllGather": 60000, "ncclReduceScatter": 70000, "ncclBroadcast": 80000, "ncclReduce": 90000}
# Two hosts of one GPU each would need a network: shared memory it is. Nothing of the machine's own is looked at.
NCCL = {"NCCL_P2P_DISABLE": 1, "NCCL_CUMEM_ENABLE": 0, "NCCL_CUMEM_HOST_ENABLE": 0, "NCCL_SOCKET_IFNAME": "lo", "NCCL_IB_DISABLE": 1,
        "NCCL_CONF_FILE": "/dev/null", "FAKE_CUDA_MEMORY_NS": 1000000}


class Real:
    """One libnccl.so.2 and the program that uses it."""

    def __init__(self, scene, home):
        self.scene, self.home = scene, pathlib.Path(home)
        header = (self.home / "include" / "nccl.h").read_text()
        self.version = int(re.search(r"#define NCCL_VERSION_CODE (\d+)", header)[1])
        self.tells_launches = self.version >= 22800
        runtime = re.search(rb"libcudart\.so\.(\d+)", (self.home / "lib" / "libnccl.so.2").read_bytes())
        if not runtime:
            raise Skip(f"{home}: this NCCL has the CUDA runtime inside, which tells a genuine driver: only one that uses the shared runtime can be tried")
        self.directory = self.doubles(runtime[1].decode())

    def doubles(self, major):
        directory = self.scene.bin / f"cuda{major}"
        directory.mkdir(exist_ok=True)
        sources, shared = SOURCES / "doubles", ("-shared", "-fPIC", "-w", "-I", ROOT, "-lpthread")
        script = directory / "cudart.map"
        script.write_text((sources / "cudart.map").read_text().replace("MAJOR", major))
        for source, name, *more in (("driver_for_nccl.c", "libcuda.so.1"), ("fake_nvml.c", "libnvidia-ml.so.1"),
                                    ("fake_cudart.c", f"libcudart.so.{major}", sources / "graphs_cudart.c", f"-DCUDART={major}", directory / "libcuda.so.1",
                                     f"-Wl,--version-script={script}")):
            self.scene.compile(sources / source, *shared, *more, f"-Wl,-soname,{name}", name=f"{directory.name}/{name}", compiler="gcc", label="")
        self.libraries = [directory / "libcuda.so.1", directory / f"libcudart.so.{major}"]
        return directory

    def program(self, is_static):
        lib = self.home / "lib"
        nccl = [lib / "libnccl_static.a", "-lstdc++", "-lrt", "-ldl", "-lm"] if is_static else ["-L", lib, "-l:libnccl.so.2", "-Wl,--allow-shlib-undefined"]
        return self.scene.compile(SOURCES / "real_nccl.c", "-w", "-I", ROOT, "-I", SOURCES / "doubles" / "runtime", "-I", self.home / "include",
                                  *nccl, *self.libraries, "-lpthread", name=f"real_nccl.{self.version}{'.static' * is_static}", compiler="gcc", label="")

    def environment(self):
        return {**NCCL, **torchrun(0, 2), "LD_LIBRARY_PATH": f"{self.home / 'lib'}:{self.directory}"}

    def both_ranks(self, act, directory, launches=("50000", "50000"), is_static=False):
        """The command that runs them at a time."""
        program = self.program(is_static)
        ranks = " ".join(f"env RANK={r} LOCAL_RANK={r} FAKE_CUDA_LAUNCHES={launches[r]} {program} {act} {directory}/id & p{r}=$!;" for r in range(2))
        return ["/bin/sh", "-c", f"{ranks} wait $p0 && wait $p1"]

    def run(self, act, launches=("50000", "50000"), is_static=False, env=None, name=None):
        """Both ranks at a time; their profiles."""
        directory = self.scene.subdir(name or f"{act}.{self.version}{'.static' * is_static}")
        env = {**self.environment(), "LD_PRELOAD": self.scene.library, **(env or {})}
        ran = self.scene.alone(self.both_ranks(act, directory, launches, is_static), profiled=False, cwd=directory, env=env)
        says = re.sub(r"NCCL version.*\n", "", ran.out)
        same((ran.code, says, ran.err), (0, "", ""), f"{act} with NCCL {self.version}")
        profiles = self.scene.profiles(directory)
        same(len(profiles), 2, "profiles")
        return directory, [Tables(p) for p in profiles]

    def answer(self, directory, section="nccl"):
        return json.loads(self.scene.run_report(section, "--format", "json", cwd=directory).succeeded().out)


def each(scene):
    homes = os.environ.get("MPIPROF_REAL_NCCL", "")
    if not homes:
        raise Skip("MPIPROF_REAL_NCCL names no NCCL (docs/nccl-internals.md)")
    return [Real(scene, home) for home in homes.split(":")]


def counted(scene, directory):
    """{(rank, call): (calls, bytes)} of what was enqueued."""
    sums = {}
    for row in scene.export_rows(cwd=directory):
        if row["call"] in DURATIONS or row["call"] in ("ncclSend", "ncclRecv"):
            key = int(row["rank"]), row["call"]
            calls, size = sums.get(key, (0, 0))
            sums[key] = calls + int(row["calls"]), size + int(row["bytes"])
    return sums


def times_are(tables, expected, held_up, what, alone=None):
    """expected: {call: (operations, ns each)}; up to `held_up` of them have no time, which is said. These may be of the call `alone`, if
    one is named."""
    found = {}
    for (call, _), (n, _, ns, shortest, longest) in by_call(tables).items():
        check(call not in found, f"{what}: {call} on two communicators")
        found[call] = n
        each_ns = expected[call][1]
        check(0 <= shortest / each_ns - 1 <= 0.02 and longest / each_ns - 1 <= 0.02, f"{what}: {call} took {shortest} to {longest} ns of {each_ns}")
        check(abs(ns / n / each_ns - 1) <= 0.02, f"{what}: {call} took {ns / n} ns each of {each_ns}")
    gone = sum(n for n, _ in expected.values()) - sum(found.values())
    check(0 <= gone <= held_up, f"{what}: {gone} operations have no time: {found}")
    others = [call for call in expected if found.get(call, 0) != expected[call][0] and call != alone]
    check(alone is None or not others, f"{what}: operations without a time: {others}")
    same(missing(tables), {"held up": gone} if gone else None, f"{what}: what is said of them")


@case(mpis=(), ranks=1, tier="full")
def real_nccl_has_exact_calls_and_bytes_and_the_times_of_its_kernels(scene):
    for nccl in each(scene):
        cycle = ",".join(map(str, DURATIONS.values()))
        directory, ranks = nccl.run("calls", (cycle, cycle))
        same(counted(scene, directory), TWENTY_OF_EACH, f"{nccl.version}: calls, bytes")
        for rank, tables in enumerate(ranks):
            # Before 2.28 the first use of each may be held up, and what the machine interrupts; of Broadcast in 2.30, too, whose
            # kernels that does not tell of.
            held_up, of = (3, "ncclBroadcast") if nccl.tells_launches else (10, None)
            times_are(tables, {call: (20, ns) for call, ns in DURATIONS.items()}, held_up, f"{nccl.version} rank {rank}", of)
        directory, ranks = nccl.run("ahead")
        for tables in ranks:
            times_are(tables, {"ncclAllReduce": (200, 50000)}, 0 if nccl.tells_launches else 3, f"{nccl.version} ahead")


@case(mpis=(), ranks=1, tier="full")
def real_nccl_tells_what_it_chose_bytes_of_uint8_included(scene):
    for nccl in each(scene):
        directory, _ = nccl.run("uint8")
        same(counted(scene, directory), {(r, "ncclAllReduce"): (10, 123450) for r in range(2)}, f"{nccl.version}: calls, bytes")
        chosen = nccl.answer(directory)["nccl_choices"]
        same([(row["call"], row["total_operations"], row["total_bytes"], row["algorithm"]) for row in chosen],
             [("ncclAllReduce", 20, 246900, "RING")], nccl.version)


@case(mpis=(), ranks=1, tier="full")
def real_nccl_has_groups_with_the_bytes_of_one_direction(scene):
    for nccl in each(scene):
        directory, ranks = nccl.run("groups")
        same(counted(scene, directory), {key: value for r in range(2) for key, value in
                                         (((r, "ncclSend"), (40, 163840)), ((r, "ncclRecv"), (40, 163840)), ((r, "ncclAllReduce"), (20, 160000)))}, nccl.version)
        for tables in ranks:
            times_are(tables, {"ncclGroupEnd": (30, 50000)}, 0 if nccl.tells_launches else 3, f"{nccl.version} groups")
            (_, (n, size, *_)), = by_call(tables).items()
            # As nccl-tests has it for an all-to-all of two ranks: half of the bytes cross the bus.
            exchanged = [t for t in tables.times() if t.flags & EXCHANGE]
            same([(t.bytes, t.others) for t in exchanged], [(t.operations * 8192, t.operations * 4096) for t in exchanged], f"{nccl.version} exchanged")
            same(len(exchanged), 1, f"{nccl.version}: records of exchanges")
            # Before 2.28 those that the host held up are left out, of either kind.
            check(size in [e * 8192 + (n - e) * 16000 for e in range(21) if n - e <= 10], f"{nccl.version}: bytes of groups: {size} of {n}")


@case(mpis=(), ranks=1, tier="full")
def real_nccl_launches_in_a_thread_of_its_own_with_times_where_it_tells_of_them(scene):
    for nccl in each(scene):
        directory, ranks = nccl.run("nonblocking")
        expected = {"ncclAllReduce": (20, 20 * (4 << 18)), "ncclBroadcast": (10, 10 * 1000)}
        same(counted(scene, directory), {(r, call): sums for r in range(2) for call, sums in expected.items()}, f"{nccl.version}: calls, bytes")
        for tables in ranks:
            if nccl.version >= 23000:
                same({call: n for (call, _), (n, *_) in by_call(tables).items()}, {"ncclAllReduce": 20}, f"{nccl.version} nonblocking")
                same(missing(tables), {"untold": 10}, f"{nccl.version} nonblocking")
            elif nccl.tells_launches:
                times_are(tables, {"ncclAllReduce": (20, 50000), "ncclBroadcast": (10, 50000)}, 0, f"{nccl.version} nonblocking")
            else:
                same((by_call(tables), missing(tables)), ({}, {"nonblocking": 30}), f"{nccl.version} nonblocking")


@case(mpis=(), ranks=1, tier="full")
def real_nccl_has_no_times_of_one_rank_and_of_what_is_captured(scene):
    for nccl in each(scene):
        directory, ranks = nccl.run("split")
        same(counted(scene, directory), {(r, "ncclAllReduce"): (16, 4000 + 10 * 8000 + 5 * 2000) for r in range(2)}, f"{nccl.version}: calls, bytes")
        for tables in ranks:
            check(11 - 2 * (not nccl.tells_launches) <= sum(n for n, *_ in by_call(tables).values()) <= 11, f"{nccl.version}: {by_call(tables)}")
        _, ranks = nccl.run("captured")
        for tables in ranks:
            without = missing(tables)
            same(without.pop("captured"), 2, f"{nccl.version}: captured")
            same(2, sum(n for n, *_ in by_call(tables).values()) + without.get("held up", 0), f"{nccl.version}: not captured")
            same([(t.call, t.operations, t.bytes) for t in tables.times() if t.flags & REPLAYS], [("ncclAllReduce", 10, 10 * 4000)], f"{nccl.version}: replays")


@case(mpis=(), ranks=1, tier="full")
def real_nccl_that_is_static_is_counted_by_what_it_tells(scene):
    tried = 0
    for nccl in each(scene):
        if not (nccl.home / "lib" / "libnccl_static.a").exists():
            continue
        tried += 1
        directory, ranks = nccl.run("steps", is_static=True)
        same(counted(scene, directory), {(r, "ncclAllReduce"): (60, 60 * (4 << 18)) for r in range(2)}, f"{nccl.version}: calls, bytes")
        for tables in ranks:
            if nccl.tells_launches:
                times_are(tables, {"ncclAllReduce": (60, 50000)}, 0, f"{nccl.version} static")
            else:
                same(by_call(tables), {}, f"{nccl.version} static")
        if nccl.tells_launches:  # and its calls: of Broadcast in 2.30 nothing else
            directory, _ = nccl.run("calls", is_static=True)
            same(counted(scene, directory), TWENTY_OF_EACH, f"{nccl.version} static: calls, bytes of each")
    if not tried:
        raise Skip("there is no libnccl_static.a")


@case(mpis=(), ranks=1, tier="full")
def real_nccl_tells_another_plugin_behind_ours_the_same(scene):
    for nccl in each(scene):
        version = {22304: 1}.get(nccl.version, 5 if nccl.version < 22900 else 6)
        for other, mask in ((version, 1 | 2 | 4 | 8 | 16), (version, 2048 | 256), (min(version, 4), 2)):
            named = {"NCCL_PROFILER_PLUGIN": other_plugin(scene, other), "OTHER_PLUGIN_MASK": mask}
            for act in ("groups", "nonblocking"):
                said = {}
                for name, more in (("alone", {}), ("both", {"MPIPROF_NCCL_PLUGIN": "forward"})):
                    where = f"{act}.{nccl.version}.{other}.{mask}.{name}"
                    directory, _ = nccl.run(act, env={**named, **more, "OTHER_PLUGIN_TOLD": "other"}, name=where)
                    said[name] = told_to_the_other(directory)
                same(said["both"], said["alone"], f"{act} with NCCL {nccl.version}: what the other was told")
                check(said["alone"] or (mask == 2048 | 256 and version < 5), f"{act} with NCCL {nccl.version}: it was told nothing")


def late_job(seed):
    """Of each rank the times of 60 operations, and who is late: who comes first waits in its kernel for who comes last."""
    dice = random.Random(seed)
    late, base = dice.randrange(2), dice.randrange(30000, 300000)
    share, most = dice.uniform(0.6, 1), dice.randrange(max(30000, base // 3), 600000)
    ranks = ([], [])
    for _ in range(60):
        last = late if dice.random() < share else 1 - late
        wait = dice.randrange(max(15000, base // 5), most)
        for rank in range(2):
            ranks[rank].append(base + (rank != last) * wait)
    return late, [",".join(map(str, times)) for times in ranks]


@case(mpis=(), ranks=1, tier="full", timeout=1500)
def real_nccl_shows_who_came_last_in_99_of_100_jobs_and_nobody_at_ties(scene):
    versions = [nccl for nccl in each(scene) if nccl.tells_launches]
    if not versions:
        raise Skip("there is no NCCL from 2.28 on")
    wrong = []
    for seed in range(100):
        nccl = versions[seed % len(versions)]
        late, launches = late_job(seed)
        directory, _ = nccl.run("steps", launches, name=f"late.{seed}")
        named = [row["rank"] for row in nccl.answer(directory).get("nccl_late", [])][:1]
        if named != [late]:
            wrong.append((seed, late, named))
    check(len(wrong) <= 1, f"(job, who was late, who is named): {wrong}")
    for seed in range(10):
        dice = random.Random(1000 + seed)
        base = dice.randrange(50000, 300000)
        times = [",".join(str(base + dice.randrange(4000)) for _ in range(60)) for _ in range(2)]
        nccl = versions[seed % len(versions)]
        directory, _ = nccl.run("steps", times, name=f"tie.{seed}")
        same(nccl.answer(directory).get("nccl_late"), None, f"who came last of two that came at once ({seed})")
