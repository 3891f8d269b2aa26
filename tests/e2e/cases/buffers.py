"""Whose memory MPI's buffers are: the host's, a device's or managed, with a double of CUDA's driver (tests/gpu) that says so."""

import collections

from cases.gpu import SOURCES, doubles
from harness import ROOT, case, same

BYTES = 800  # of each call: 100 doubles


def run(scene, act, env=None, fortran=None):
    """{(call, buffer): (calls, bytes)} of rank 1."""
    _, cuda = doubles(scene)
    if fortran:
        program = scene.compile(SOURCES / "buffers.f90", "-cpp", "-w", "-fallow-argument-mismatch", f"-D{fortran.upper()}", cuda / "libcuda.so.1",
                                name=f"buffers.{fortran}.{scene.mpi}")
    else:
        program = scene.compile(SOURCES / "buffers.c", "-w", "-I", ROOT, cuda / "libcuda.so.1", name=f"buffers.{scene.mpi}")
    directory = scene.subdir(act)
    ran = scene.mpirun(2, [program, act], profiled="ranks", cwd=directory, env={"LD_LIBRARY_PATH": cuda, **(env or {})}).succeeded()
    same(ran.out, "", "output")
    found = collections.defaultdict(lambda: (0, 0))
    for row in scene.export_rows(str(directory)):
        if row["rank"] == "1" and int(row["calls"]):
            calls, size = found[row["call"], row["buffer"]]
            found[row["call"], row["buffer"]] = calls + int(row["calls"]), size + int(row["bytes"])
    return found


def of(found, call):
    return {buffer: calls for (name, buffer), (calls, _) in found.items() if name == call}


@case(ranks=2)
def buffers_are_told_apart_by_whose_memory_they_are(scene):
    found = run(scene, "kinds")
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
    text = scene.run_report("calls", str(scene.dir / "kinds")).succeeded().out
    same("BUFFER" in text and "managed" in text, True, text)


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
    found = of(run(scene, "late"), "MPI_Allreduce")
    same(found, {"host": 500, "device": 10}, "Allreduce")


@case(ranks=2)
def without_a_gpu_or_where_the_user_says_so_all_buffers_are_the_hosts(scene):
    found = run(scene, "off", {"MPIPROF_GPU": "off"})
    same({buffer for _, buffer in found}, {"host"}, "kinds")
