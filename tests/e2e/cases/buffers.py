"""Whose memory MPI's buffers are: the host's, a device's or managed, with a double of CUDA's driver (tests/gpu) that says so."""

import collections

from cases.gpu import SOURCES, doubles, hip
from harness import ROOT, case, same

BYTES = 800  # of each call: 100 doubles


def run(scene, act, env=None, fortran=None, is_hip=False, directory=None):
    """{(call, buffer): (calls, bytes)} of rank 1."""
    driver = hip(scene)[0] / "libamdhip64.so.6" if is_hip else doubles(scene)[1] / "libcuda.so.1"
    if fortran:
        program = scene.compile(SOURCES / "buffers.f90", "-cpp", "-w", "-fallow-argument-mismatch", f"-D{fortran.upper()}", driver,
                                name=f"buffers.{fortran}.{scene.mpi}")
    else:
        program = scene.compile(SOURCES / "buffers.c", "-w", "-I", ROOT, *(["-DHIP"] if is_hip else []), driver,
                                name=f"buffers.{'hip.' if is_hip else ''}{scene.mpi}")
    directory = scene.subdir(directory or act)
    ran = scene.mpirun(2, [program, act], profiled="ranks", cwd=directory, env={"LD_LIBRARY_PATH": driver.parent, **(env or {})}).succeeded()
    same(ran.out, "", "output")
    found = collections.defaultdict(lambda: (0, 0))
    for row in scene.export_rows(str(directory)):
        if row["rank"] == "1" and int(row["calls"]):
            calls, size = found[row["call"], row["buffer"]]
            found[row["call"], row["buffer"]] = calls + int(row["calls"]), size + int(row["bytes"])
    return found


def of(found, call):
    return {buffer: calls for (name, buffer), (calls, _) in found.items() if name == call}


def check_kinds(found):
    kinds = {"host": 2, "device": 4, "managed": 6}
    same(of(found, "MPI_Allreduce"), {kind: 2 * calls for kind, calls in kinds.items()}, "Allreduce, half of them in place")
    for call in ("MPI_Gather", "MPI_Scatter"):
        same(of(found, call), kinds, call)
    same(of(found, "MPI_Bcast"), {**kinds, "device": 4 + 64}, "Bcast")
    for call in ("MPI_Isend", "MPI_Irecv", "MPI_Sendrecv"):
        same(of(found, call), {"host": 1, "device": 1}, call)
    same(of(found, "MPI_Waitall"), {"host": 2}, "a call without a buffer")
    for (call, buffer), (calls, size) in found.items():
        if call in ("MPI_Allreduce", "MPI_Bcast", "MPI_Gather", "MPI_Scatter"):
            same(size, calls * BYTES, f"bytes of {call} with {buffer} buffers")


@case(ranks=2)
def buffers_are_told_apart_by_whose_memory_they_are(scene):
    check_kinds(run(scene, "kinds"))
    text = scene.run_report("calls", str(scene.dir / "kinds")).succeeded().out
    same("BUFFER" in text and "managed" in text, True, text)


@case(ranks=2)
def buffers_of_amds_gpus_are_told_apart_by_every_version_of_hip(scene):
    for version in (50700000, 60300000, 70000000):
        _, env = hip(scene)
        check_kinds(run(scene, "kinds", {**env, "FAKE_HIP_VERSION": version}, is_hip=True, directory=f"kinds.{version}"))


@case(ranks=2)
def hip_is_not_asked_before_the_program_uses_it_nor_while_an_error_is_unread(scene):
    _, env = hip(scene)
    found = of(run(scene, "late", env, is_hip=True), "MPI_Allreduce")  # its double ends who asks too early
    same(found, {"host": 500, "device": 10}, "Allreduce")
    same({buffer for _, buffer in run(scene, "unused", {}, is_hip=True)}, {"host"}, "kinds where it is never initialised")
    for version in (50700000, 60300000, 70000000):
        found = of(run(scene, "unread", {**env, "FAKE_HIP_VERSION": version}, is_hip=True, directory=f"unread.{version}"), "MPI_Bcast")
        same(found, {"host": 10 + 5, "device": 10}, f"Bcast of HIP {version}, where five of managed memory find an error unread")


@case(ranks=2)
def buffers_of_fortran_programs_are_told_apart_too(scene):
    for binding in ("mpi", "f08"):
        found = run(scene, binding, fortran=binding)
        same(of(found, "MPI_Allreduce"), {"host": 5, "device": 10}, f"Allreduce by {binding}, three of them in place")
        same(of(found, "MPI_Bcast"), {"device": 1}, f"Bcast by {binding}")


@case(ranks=2)
def memory_that_is_freed_and_used_anew_is_asked_for_again(scene):
    found = of(run(scene, "freed"), "MPI_Bcast")
    same(sum(found.values()), 200, "calls")
    same(100 <= found["device"] <= 100 + 64, True, found)


@case(ranks=2)
def gpu_that_is_initialised_late_is_noticed(scene):
    for act in ("late", "late_and_new"):
        same(of(run(scene, act), "MPI_Allreduce"), {"host": 500, "device": 10}, f"Allreduce, {act}")


@case(ranks=2)
def without_a_gpu_or_where_the_user_says_so_all_buffers_are_the_hosts(scene):
    found = run(scene, "off", {"MPIPROF_GPU": "off"})
    same({buffer for _, buffer in found}, {"host"}, "kinds")
