"""The recorder of what NCCL tells a plugin and of what CUPTI hands over (tests/gpu/recorder): on the doubles it leaves what is committed
in tests/gpu/recordings, which ctest replays (gpu.replay...). A case that fails because a double has changed has the new recordings in
its directory."""

import os
import sys

from cases.gpu import SOURCES, cupti, doubles, program
from cases.nccl import torchrun
from cases.real_nccl import each
from harness import ROOT, case, check, same

sys.path.insert(0, str(SOURCES))
from recording import Recording  # noqa: E402

COMMITTED = SOURCES / "recordings"
WITHOUT_CUPTI = {"RECORDING_CUPTI": "none"}
# {recording: (scene of tests/gpu/program.c, version of NCCL's interface, more of the environment)}
ON_DOUBLES = {
    "double.v1": ("lone", 1, WITHOUT_CUPTI),
    "double.v2": ("lone", 2, WITHOUT_CUPTI),
    "double.v3": ("groups", 3, WITHOUT_CUPTI),
    "double.v4": ("groups", 4, {}),
    "double.v5": ("lone", 5, {}),
    "double.v6": ("groups", 6, {}),
    "double.kernels_first": ("lone", 6, {"FAKE_CUPTI_KERNELS_FIRST": 1}),
    "double.other_work": ("overlap", 6, {}),
    "double.graphs": ("captured", 6, {}),
    "double.threads": ("nonblocking", 6, {}),
    "double.two_buffers": ("reset", 6, {}),
    "double.cupti_11": ("captured", 5, {"FAKE_CUPTI_VERSION": 13, "FAKE_CUPTI_KERNEL_BYTES": 160}),
    "double.dropped": ("unfinished", 6, {"FAKE_CUPTI_DROPPED": 7}),
}


def recorder(scene):
    return scene.compile(SOURCES / "recorder" / "recorder.c", "-shared", "-fPIC", "-w", "-I", ROOT, "-lpthread", "-ldl", name="libmpiprof-recorder.so",
                         compiler="gcc", label="")


def recorded(scene, directory, command, env):
    """The text of each rank's recording."""
    ran = scene.alone(command, profiled=False, cwd=directory, env={"NCCL_PROFILER_PLUGIN": recorder(scene), "RECORDING_OUT": directory / "rank", **env})
    return ran, {path.name: path.read_text() for path in directory.glob("rank.*")}


@case(mpis=(), ranks=1)
def recorder_leaves_on_doubles_what_is_committed(scene):
    path = ":".join(map(str, (*doubles(scene), cupti(scene))))
    for name, (act, version, env) in ON_DOUBLES.items():
        env = {"LD_LIBRARY_PATH": path, "FAKE_GPU": 1, "FAKE_NCCL_PROFILER": version, **torchrun(0, 2), **env}
        ran, found = recorded(scene, scene.subdir(name), [program(scene, "linked"), act], env)
        same((ran.code, ran.out, ran.err), (0, "", ""), name)
        committed = {file.name: file.read_text() for file in (COMMITTED / name).glob("rank.*") if file.suffix != ".expected"}
        check(found == committed, f"{scene.dir / name} differs from {COMMITTED / name}")
    same(sorted(ON_DOUBLES), sorted(p.name for p in COMMITTED.glob("double.*")), "recordings of doubles")


@case(mpis=(), ranks=1)
def recording_has_nothing_of_forked_children(scene):
    path = ":".join(map(str, (*doubles(scene), cupti(scene))))
    env = {"LD_LIBRARY_PATH": path, "FAKE_GPU": 1, **torchrun(0, 2)}
    ran, _ = recorded(scene, scene.dir, [program(scene, "linked"), "fork"], env)
    recording = Recording(scene.dir / "rank.0")
    same((ran.code, ran.err, recording.what_is_missing(), recording.operations, recording.kernels), (0, "", "", 2, 2), "a program with three children")


@case(mpis=(), ranks=1)
def recording_of_a_process_that_is_killed_is_not_complete(scene):
    path = ":".join(map(str, (*doubles(scene), cupti(scene))))
    env = {"LD_LIBRARY_PATH": path, "FAKE_GPU": 1, **torchrun(0, 2)}
    ran, found = recorded(scene, scene.dir, [program(scene, "linked"), "killed"], env)
    same((ran.code, Recording(scene.dir / "rank.0").what_is_missing()), (-9, "its last line"), "a process that was killed")
    check(found["rank.0"].count("start") >= 150, f"what was told before the kill is there: {found['rank.0'].count('start')}")


@case(mpis=(), ranks=1, tier="full")
def recorder_has_all_that_the_real_nccl_tells(scene):
    for nccl in each(scene):
        directory = scene.subdir(f"nccl.{nccl.version}")
        env = {**nccl.environment(), **torchrun(0, 2), **WITHOUT_CUPTI}
        ran, found = recorded(scene, directory, nccl.both_ranks("few", directory), env)
        same((ran.code, ran.err, sorted(found)), (0, "", ["rank.0", "rank.1"]), f"NCCL {nccl.version}")
        for name in found:
            recording = Recording(directory / name)
            same(recording.what_is_missing(), "", f"{nccl.version} {name}")
            expected = {"AllReduce": 4, "AllGather": 1, "ReduceScatter": 1, "Broadcast": 1, "Reduce": 1, "Send": 2, "Recv": 2}
            if nccl.version >= 23000:
                del expected["Broadcast"]  # of which it does not tell
            same(recording.operations, sum(expected.values()), f"{nccl.version} {name}: operations in all")
            if recording.versions != {1}:  # which has numbers for functions
                same(recording.functions, expected, f"{nccl.version} {name}: operations")
