"""Training that stands still: what its ranks have enqueued says why. NCCL is the double, which never waits for anybody."""

import contextlib
import time

from acts import Running
from cases.nccl import SOURCES, double, environment, torchrun
from harness import ROOT, case, check, same


def line_of(name):
    lines = (SOURCES / "order.c").read_text().splitlines()
    return "(order.c:%d)" % next(number for number, line in enumerate(lines, 1) if f"/* {name} */" in line)


@contextlib.contextmanager
def standing_still(scene, act, communicators_before=0, *more):
    """Two ranks that have called nothing for a second and more; yields their directory."""
    where = double(scene)
    program = scene.compile(SOURCES / "order.c", "-w", "-I", ROOT, "-L", where, "-lnccl", "-lpthread", f"-Wl,-rpath,{where}", name=f"nccl_order.{act}",
                            compiler="gcc", label="")
    directory = scene.subdir(f"{act}.{communicators_before}")
    with contextlib.ExitStack() as stack:
        for rank in range(2):
            (directory / f"rank{rank}").mkdir()
            env = {**environment(scene, directory), **torchrun(rank, 2), "MPIPROF_PERIOD": 0.1, "MPIPROF_DIR": directory}
            stack.enter_context(Running(scene, [program, act, communicators_before, *more], env, directory / f"rank{rank}", profiled=False)).ready()
        time.sleep(1.5)
        yield directory


def hang(scene, directory):
    """The sentence that `hang` begins with, on one line."""
    return " ".join(scene.run_report("hang", cwd=directory).succeeded().out.split())


@case(mpis=(), ranks=1)
def hang_names_what_ranks_enqueued_differently_on_a_communicator_of_nccl(scene):
    reduce, broadcast = f"ncclAllReduce {line_of('all_reduce')}", f"ncclBroadcast {line_of('broadcast')}"
    wanted = {
        "count": f"Deadlock: different arguments of a collective on a communicator of 2 ranks: rank 0 has enqueued {reduce} of 8 float32 "
                 f"(sum), rank 1 has enqueued {reduce} of 9 float32 (sum), for",
        "type": f"rank 1 has enqueued {reduce} of 8 float16 (sum), for",
        "root": f"Deadlock: different roots on a communicator of 2 ranks: rank 0 has enqueued {broadcast} with root 0, rank 1 has enqueued "
                f"{broadcast} with root 1, for",
        "call": f"Deadlock: different collectives on a communicator of 2 ranks: rank 0 has enqueued {reduce}, rank 1 has enqueued "
                f"{broadcast}, for",
    }
    for act, sentence in wanted.items():
        with standing_still(scene, act) as directory:
            said = hang(scene, directory)
        check(sentence in said and "collective number 301" in said, f"{act}:\n{said}")
        after = hang(scene, directory)
        summary = " ".join(scene.run_report("summary", "--width", "400", cwd=directory).succeeded().out.split())
        check(summary.startswith("Deadlock: different ") and " [hang] " in summary, f"the summary of {act}:\n{summary}")
        check("Deadlock: different " in after and f" enqueued {reduce if act in ('count', 'type', 'call') else broadcast}" in after,
              f"{act}, when it was killed:\n{after}")


@case(mpis=(), ranks=1)
def hang_names_ranks_that_use_two_communicators_of_nccl_in_opposite_order(scene):
    reduce, broadcast = f"ncclAllReduce {line_of('all_reduce')}", f"ncclBroadcast {line_of('broadcast')}"
    for act in ("crossed", "ahead"):
        with standing_still(scene, act) as directory:
            said = hang(scene, directory)
        check("Ranks 0 and 1 use two communicators in opposite order:" in said and reduce in said and broadcast in said and
              "Deadlock: " not in said, f"{act}:\n{said}")


@case(mpis=(), ranks=1)
def hang_names_the_line_that_a_rank_has_not_come_to_and_says_nothing_where_all_enqueued_alike(scene):
    with standing_still(scene, "behind") as directory:
        said = hang(scene, directory)
    wanted = f"Rank 0 has enqueued ncclAllReduce {line_of('all_reduce')} 301 times on"
    check(wanted in said and "rank 1 300: their GPUs wait for it" in said, said)
    with standing_still(scene, "right") as directory:
        said = hang(scene, directory)
    same([word for word in ("Deadlock: ", "opposite", "differ", "wait for it") if word in said], [], f"alarms of a job that is right:\n{said}")


@case(mpis=(), ranks=1)
def hang_knows_what_was_enqueued_on_the_fiftieth_communicator_too(scene):
    with standing_still(scene, "count", 50) as directory:
        said = hang(scene, directory)
    check("Deadlock: different arguments of a collective on a communicator of 2 ranks" in said and "of 9 float32 (sum), for" in said, said)
    with standing_still(scene, "crossed", 12) as directory:
        said = hang(scene, directory)
    check("Ranks 0 and 1 use two communicators in opposite order:" in said, said)
    with standing_still(scene, "count", 70) as directory:
        said = hang(scene, directory)
    check("Ranks 0 and 1 have enqueued as many collectives on a communicator of 2 ranks, 301, but not the same ones: which ones differ is not recorded for so "
          "many communicators. They have called nothing for" in said, said)


@case(mpis=(), ranks=1)
def hang_denies_nothing_where_all_hosts_wait_for_their_gpus(scene):
    """A link that is dead, a Recv that is missing: every rank has enqueued the same, and nobody is inside a call."""
    with standing_still(scene, "right") as directory:
        said = hang(scene, directory)
    check("No hang" not in said, said)
    check("No rank is inside NCCL, whose calls return at once: whether the GPUs have finished what was enqueued last is not known. "
          f"Ranks 0 and 1 enqueued ncclBroadcast {line_of('broadcast')} last" in said, said)
    after = hang(scene, directory)
    check("Ranks 0 and 1 were killed. No rank was inside NCCL, whose calls return at once" in after, after)


@case(mpis=(), ranks=1)
def hang_names_the_message_of_nccl_that_one_of_two_ranks_has_not_enqueued(scene):
    send, receive = f"ncclSend {line_of('send')} to rank 1", f"ncclRecv {line_of('receive')} from rank 0"
    wanted = {
        "unsent": f"Rank 1 has enqueued 51 {receive} on a communicator of 2 ranks, which has enqueued 50 {send}, for",
        "unreceived": f"Rank 0 has enqueued 51 {send} on a communicator of 2 ranks, which has enqueued 50 {receive}, for",
        "elsewhere": f"Ranks 0 and 1 have enqueued a message at different places among the collectives on a communicator of 2 ranks: rank 0 51 {send}, "
                     f"after 301, rank 1 51 {receive}, after 300. They have called nothing for",
    }
    for act, sentence in wanted.items():
        with standing_still(scene, act, 0, "messages") as directory:
            said = hang(scene, directory)
        check(sentence in said and "Deadlock: " not in said, f"{act}:\n{said}")
        check(("the GPU of rank 1 waits for it; rank 0: it is in the program" in said) == (act == "unsent"), f"{act}:\n{said}")
        check(("unless NCCL has room for the message" in said) == (act == "unreceived"), f"{act}:\n{said}")
    with standing_still(scene, "met", 0, "messages") as directory:
        said = hang(scene, directory)
    same([word for word in ("Deadlock: ", "places", "waits for it") if word in said], [], f"alarms of a job that is right:\n{said}")


@case(mpis=(), ranks=1)
def hang_proves_that_a_rank_which_has_exited_is_missing_in_a_collective_of_nccl(scene):
    with standing_still(scene, "gone") as directory:
        said = hang(scene, directory)
    check(f"Deadlock: a collective that not all ranks entered on a communicator of 2 ranks: rank 0 has enqueued ncclAllReduce {line_of('all_reduce')}, for"
          in said and "; rank 1 has called exit" in said, said)


@case(mpis=(), ranks=1)
def hang_proves_a_receive_of_nccl_from_a_rank_that_has_exited(scene):
    with standing_still(scene, "gone", 0, "messages") as directory:
        said = hang(scene, directory)
    check(f"Deadlock: unmatched receive: rank 1 has enqueued ncclRecv {line_of('receive')}, for" in said and "; rank 0 has called exit" in said, said)


@case(mpis=(), ranks=1)
def messages_of_nccl_are_counted_with_their_peer_while_recording_is_off(scene):
    """Else a rank that records later than another one seems to miss what it has received."""
    with standing_still(scene, "paused", 0, "messages") as directory:
        said = hang(scene, directory)
    check("Rank 1 has enqueued 51 ncclRecv" in said and "which has enqueued 50 ncclSend to rank 1" in said.replace(f" {line_of('send')}", ""), said)
