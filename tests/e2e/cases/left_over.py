"""What a program leaves over at MPI_Finalize: said with its lines where it is proven, and never of programs that clean up."""

import json
import re

from harness import PROGRAMS, case, check, same


def line_of(source, mark):
    lines = (PROGRAMS / source).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.endswith("here: " + mark))


def left_over(scene):
    """{(kind, call, place): (count, ranks, first rank)}, as the json export has it."""
    job = json.loads(scene.run_report("export", "-f", "json").succeeded().out)
    return {(left["kind"], left["call"], left["place"]): (left["count"], left["ranks"], left["first_rank"]) for left in job["left_over"]}


def remarks(scene):
    return " ".join(scene.run_report("--width", "140").succeeded().out.split())


@case(ranks=1)
def what_a_program_never_completes_or_frees_is_said_with_its_lines(scene):
    scene.mpirun(1, [scene.compile("left_over.c", scene.shared_object("left_over_library.c")), "leaves"]).succeeded()
    at = lambda mark: f"left_over.c:{line_of('left_over.c', mark)}"
    same(left_over(scene), {("request", "MPI_Irecv", at("open")): (2, 1, 0), ("request", "MPI_Recv_init", at("started")): (1, 1, 0),
                            ("persistent", "MPI_Send_init", at("persistent")): (1, 1, 0),
                            ("communicator", "MPI_Comm_dup", at("copy")): (1, 1, 0),
                            ("communicator", "MPI_Comm_split", at("part")): (1, 1, 0),
                            ("type", "MPI_Type_vector", at("types")): (4, 1, 0)}, "what is left over")
    said = remarks(scene)
    check(f"Leaked at MPI_Finalize: 2 requests of MPI_Irecv ({at('open')}) were never completed" in said, said)
    check("[left-over]" in said, said)
    check(re.search(r"\[([a-z-]+)\]", said)[1] != "left-over", "it is said first: " + said)  # whatever a busy machine says


@case(ranks=1)
def what_is_freed_in_callbacks_pauses_and_by_other_names_is_not_left_over(scene):
    """In delete callbacks of others, at MPI_Finalize, by PMPI_ names, while recording is off, by MPI_Cancel and Wait."""
    scene.mpirun(1, [scene.compile("left_over.c", scene.shared_object("left_over_library.c")), "frees"]).succeeded()
    same(left_over(scene), {}, "what is left over")
    check("left-over" not in remarks(scene), remarks(scene))


@case(ranks=1)
def what_a_library_leaves_over_is_not_said(scene):
    scene.mpirun(1, [scene.compile("left_over.c", scene.shared_object("left_over_library.c")), "library"]).succeeded()
    same(left_over(scene), {}, "what is left over")


@case(ranks=2)
def what_a_fortran_program_leaves_over_is_said_with_its_lines(scene):
    scene.mpirun(2, [scene.compile("left_over.f90", name=f"left_over_f.{scene.mpi}")]).succeeded()
    at = lambda mark: f"left_over.f90:{line_of('left_over.f90', mark)}"
    same(left_over(scene), {("request", "MPI_Irecv", at("open")): (1, 1, 1), ("communicator", "MPI_Comm_split", at("part")): (2, 2, 0),
                            ("type", "MPI_Type_vector", at("types")): (2, 2, 0)}, "what is left over")
    check(f"1 request of MPI_Irecv ({at('open')}) on rank 1 was never completed" in remarks(scene), remarks(scene))
