"""Requests: which of them a Wait waited for, whoever posted them and whatever their handles are."""

import csv
import io
import json

from harness import Skip, case, check, same

ROUNDS = 100


def rows_of(scene):
    """{call: what `calls` says of it}"""
    text = scene.run_report("calls", "--format", "csv").succeeded().out
    return {row["call"]: row for row in csv.DictReader(io.StringIO(text))}


@case(ranks=2)
def exchanges_that_overlap_wait_for_their_receives_and_lose_no_request(scene):
    """Sends that are complete when they are posted share one handle, in Open MPI and MPICH: nobody waits for them."""
    scene.mpirun(2, [scene.compile("overlapped.c"), ROUNDS]).succeeded()
    calls = rows_of(scene)
    for name in ("MPI_Isend", "MPI_Irecv"):
        same(calls[name]["requests"], calls[name]["calls_total"], f"requests that {name} posted and that were seen to complete")
    check("[dropped]" not in scene.run_report().out, "requests could not be told to the calls that posted them")
    sends, receives = (float(calls[name]["waited_ns"]) for name in ("MPI_Isend", "MPI_Irecv"))
    check(sends < 0.1 * receives, f"{sends / 1e6:.1f} ms were waited for sends, {receives / 1e6:.1f} ms for receives")


@case(ranks=2, attempts=3)
def a_send_that_is_complete_at_once_is_waited_for_by_nobody(scene):
    """Its handle says so, also where no other send is open; the Wait for it is no waiting, and counts it."""
    scene.mpirun(2, [scene.compile("one_send.c"), ROUNDS]).succeeded()
    calls = rows_of(scene)
    same(calls["MPI_Isend"]["requests"], str(ROUNDS), "sends that were seen to complete")
    same(calls["MPI_Wait"]["requests"], str(ROUNDS), "requests that MPI_Wait completed")
    same(float(calls["MPI_Isend"]["waited_ns"]), 0.0, "nanoseconds that were waited for sends")


@case(ranks=2)
def requests_that_another_thread_starts_and_waits_for_are_told_to_their_calls(scene):
    """One thread posts and sets up, another waits and starts: nothing is lost, and what a start moves is known."""
    ran = scene.mpirun(2, [scene.compile("handed_over.c", "-pthread"), ROUNDS])
    if ran.code == 77:
        raise Skip(ran.err.strip().splitlines()[-1])
    ran.succeeded()
    calls = rows_of(scene)
    for name in ("MPI_Isend", "MPI_Irecv"):
        same(calls[name]["requests"], str(2 * ROUNDS), f"requests that {name} posted and that were seen to complete")
        check(float(calls[name]["waited_ns"]) > 0, f"nobody waited for what {name} posted")
    same(calls["MPI_Startall"]["total_bytes"], str(2 * ROUNDS * 2 * 16), "bytes of the persistent ones")
    check("[dropped]" not in scene.run_report().out, "requests could not be told to the calls that posted them")


@case(ranks=2)
def persistent_sends_that_mpi_gives_another_handle_keep_their_bytes(scene):
    """Open MPI does so where the last message is still on its way when the next one is started."""
    scene.mpirun(2, [scene.compile("persistent_bsend.c"), ROUNDS]).succeeded()
    calls = rows_of(scene)
    same(calls["MPI_Start"]["total_bytes"], str(ROUNDS * 16384), "bytes that were started")
    check("[dropped]" not in scene.run_report().out, "requests could not be told to the calls that posted them")


@case(ranks=1)
def requests_that_the_program_makes_and_completes_itself_are_told_to_their_call(scene):
    scene.mpirun(1, [scene.compile("generalized_request.c", "-pthread")]).succeeded()
    same(rows_of(scene)["MPI_Grequest_start"]["requests"], "3", "generalized requests that were seen to complete")
    check("[dropped]" not in scene.run_report().out, "requests could not be told to the calls that posted them")


@case(ranks=2)
def what_one_language_begins_and_another_ends_is_one_request(scene):
    """Set up, posted and probed for in C, started, waited for, freed and received in Fortran, and the other way round."""
    part = scene.compile("across.c", "-c", name=f"across_c.{scene.mpi}.o", label=scene.mpi)
    scene.mpirun(2, [scene.compile("across.f90", part), ROUNDS]).succeeded()
    calls = rows_of(scene)
    same(calls["MPI_Startall"]["total_bytes"], str(2 * ROUNDS * 2 * 4000), "bytes of what C set up and Fortran started")
    same(calls["MPI_Start"]["total_bytes"], str(2 * ROUNDS * 2 * 2000), "bytes of what Fortran set up and C started")
    for name, posted in (("MPI_Irecv", 2), ("MPI_Isend", 4)):
        same(calls[name]["requests"], str(2 * posted * ROUNDS), f"requests of {name} that were seen to complete")
    check("[dropped]" not in scene.run_report().out, "requests could not be told to the calls that posted them")
    for profile in json.loads(scene.run_report("export", "-f", "json").succeeded().out)["ranks"]:
        peers = [(peer["rank"], peer["sent"], peer["received"]) for peer in profile["peers"]]
        same([(rank, sent["messages"], received["messages"]) for rank, sent, received in peers],
             [(1 - profile["rank"], 6 * ROUNDS, 6 * ROUNDS)], f"peers of rank {profile['rank']} and their messages")
        same([name for name, flow in profile["vague_peers"].items() if flow["messages"]], [], "messages of nobody knows whom")
