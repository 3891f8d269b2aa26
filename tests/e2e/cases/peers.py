"""Who sends how much to whom: exact, in ranks of MPI_COMM_WORLD, whatever communicator, call and language it was."""

import csv
import io
import json

from harness import case, check, differences, read_tables, same


def peers_of(profile):
    """{(what, rank): (messages, bytes)}"""
    found = {}
    for peer in profile["peers"]:
        names = ("put", "fetched") if peer["kind"] == "one_sided" else ("sent", "received")
        for name, flow in zip(names, (peer["sent"], peer["received"])):
            if flow["messages"]: found[name, peer["rank"]] = (flow["messages"], flow["bytes"])
    for name, flow in profile["vague_peers"].items():
        if flow["messages"]: found["any" if name == "received_from_any" else name, 0] = (flow["messages"], flow["bytes"])
    return found


def expected_of(scene, rank):
    lines = (line.split() for line in (scene.dir / f"expected.{rank}.txt").read_text().splitlines())
    return {(what, int(rank)): (int(messages), int(size)) for what, rank, messages, size in lines}


def compare(scene, ranks):
    document = json.loads(scene.run_report("export", "-f", "json").succeeded().out)
    same([profile["rank"] for profile in document["ranks"]], list(range(ranks)), "ranks with a profile")
    for profile in document["ranks"]:
        same(peers_of(profile), expected_of(scene, profile["rank"]), f"peers of rank {profile['rank']}")


@case(ranks=4)
def every_message_is_counted_with_its_peer(scene):
    scene.mpirun(4, scene.compile("peers.c", "-Wno-stringop-overflow")).succeeded()
    compare(scene, 4)
    scene.run_report("check").succeeded()
    tables = dict(block.removeprefix("# ").split("\n", 1) for block in scene.run_report("peers", "--format", "csv").succeeded().out.split("\n\n"))
    pairs = list(csv.DictReader(io.StringIO(tables["pairs"])))
    check(pairs, "no pairs")
    told = [pair for pair in pairs if pair["kind"] == "messages" and pair["to"] != "0"]  # rank 0 did not ask who sent to it
    same([pair for pair in told if pair["sent"] != pair["received"]], [], "pairs that did not receive what was sent")
    same(tables["differences"].count("\n"), 1, "lines of differences: rank 0 hides some, all others agree")


def fortran_peers_are_exact(scene, flavour, *flags):
    scene.mpirun(4, scene.compile("peers.f90", "-cpp", "-ffree-line-length-none", *flags, name=f"peers.{flavour}.{scene.mpi}")).succeeded()
    compare(scene, 4)


@case(ranks=4)
def peers_of_fortran_programs_are_exact(scene):
    fortran_peers_are_exact(scene, "mpi")


@case(ranks=4)
def peers_of_fortran_2008_programs_are_exact(scene):
    fortran_peers_are_exact(scene, "f08", "-DF08")


def handles_are_what_they_are_now(scene, *how):
    program = scene.compile("recycled.c")
    ran = scene.mpirun(4, [program, "expected", *how]).succeeded()
    if scene.mpi == "mpich":
        same(ran.out, "handles came back\n", "output: else nothing is tested")
    compare(scene, 4)
    expected = read_tables(scene.dir / "expected.*.csv")
    booked = {call for _, call, _ in expected}
    found = {key: value for key, value in scene.export().items() if key[1] in booked}
    check(found == expected, "(rank, call, bin) -> (calls, bytes):\n" + differences(found, expected))


@case(ranks=4)
def handles_that_come_back_mean_what_they_are_now(scene):
    handles_are_what_they_are_now(scene)


@case(ranks=4)
def handles_that_a_library_below_makes_and_frees_mean_what_they_are_now(scene):
    """By PMPI_ names, so that it is not seen: nothing is read or booked by what a handle meant before."""
    handles_are_what_they_are_now(scene, "both")


@case(ranks=4)
def handles_whose_end_alone_is_not_seen_mean_what_they_are_now(scene):
    handles_are_what_they_are_now(scene, "freed")


@case(ranks=4)
def handles_whose_making_alone_is_not_seen_mean_what_they_are_now(scene):
    handles_are_what_they_are_now(scene, "made")


@case(ranks=4)
def communicators_that_live_in_attributes_mean_what_they_are_now(scene):
    """A library makes and frees them in the callbacks, inside of MPI_Comm_dup and MPI_Comm_free."""
    handles_are_what_they_are_now(scene, "kept")
