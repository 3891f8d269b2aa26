"""The exams: programs with one known cause each, or none, and what the first line of the report has to say of them. A row was written
before its program ran. `record` runs the programs and keeps their profiles, `judge.py` asks a reporter of these. No row says what the
reporter says today, but for `known`."""

import json
import pathlib
import sys
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from causes import CAUSES  # noqa: E402

RUNS = 3
BY_CHANCE = "different rank is late each time"


@dataclass
class Exam:
    name: str
    right: tuple  # "rule" or "rule:ranks", any of which is right
    source: str = "fair.c"
    steps: int = 56
    mpi: str = "openmpi"
    n: int = 4
    nodes: int = 1
    site: tuple = None  # the call and the function of the source that the line names
    also_at: str = ""  # another call of that function which may be named as well: as much is waited in both
    waiting: float = None  # of the time of all ranks, where it follows from the program
    seconds: float = None  # that its steps take; a run that took longer has lost time to others on its processors
    may: str = ""  # ranks that may be accused besides
    chance: bool = False  # it is a different rank each time
    never: tuple = ()  # words that would be false anywhere in the summary
    how: tuple = ()  # more arguments of the program
    known: tuple = ()  # what is said instead, as judge.py puts it: a miss that is known
    known_false: tuple = ()  # and what is said that is false

    @property
    def label(self):
        return self.name + ("-mpich" if self.mpi == "mpich" else "")

    def recordings(self):
        return [f"{self.label}-{run}" for run in range(1, RUNS + 1)]

    def accusable(self):
        """The ranks that the right answers name, and those that may be named besides."""
        named = [answer.partition(":")[2] for answer in self.right] + [self.may]
        return {rank for text in named for rank in ranks_of(text)}


def read_names(path):
    """What the places in the program of each recording are called. In the file one that has the same as an earlier one names that."""
    names = json.loads(path.read_text()) if path.exists() else {}
    return {recording: names.get(text, text) for recording, text in names.items()}


def write_names(path, names):
    first = {}
    kept = {recording: first.setdefault(text, recording) for recording, text in sorted(names.items())}
    kept = {recording: names[recording] if recording == of else of for recording, of in kept.items()}
    path.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")


def ranks_of(text):
    for part in filter(None, (text or "").replace(" ", "").split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def partners(name, right, waiting, call, **more):
    return Exam(name, right, "partners.c", waiting=waiting, site=(call, name), **more)


def phases(name, right, waiting, call="MPI_Allreduce", **more):
    return Exam(name, right, "phases.c", waiting=waiting, site=(call, name), **more)


def of_two(name, right, waiting, call, **more):
    """Under MPICH, whose ranks spin while they wait: two that shared a core had less of it than they wanted."""
    return partners(name, right, waiting, call, mpi="mpich", n=2, **more)


FAIR = [  # healthy, or merely uneven: no node, and no rank that does not stand here, may be accused
    Exam("stencil", ("healthy",)),
    Exam("stencil", ("healthy",), mpi="mpich", n=2),
    Exam("mild_jitter", ("healthy",), steps=100),
    Exam("a_little_more", ("healthy",), steps=100),
    Exam("overlapped", ("healthy",)),
    Exam("overlapped", ("healthy",), mpi="mpich", n=2),
    Exam("early_sum", ("healthy",)),
    Exam("equal_halves", ("healthy",)),
    Exam("fences", ("healthy",)),
    Exam("rare_checkpoints", ("healthy",)),
    Exam("idle_master", ("imbalance", "late-sender", "healthy"), waiting=1 / 4),
    Exam("uneven_domain", ("imbalance:2", "imbalance"), waiting=6 / 36, site=("MPI_Allreduce", "uneven_domain")),
    Exam("stencil_on_two_nodes", ("healthy",), nodes=2, how=("stencil",)),
    Exam("uneven_nodes", ("slow-node:2-3",), nodes=2, waiting=3 / 20, site=("MPI_Allreduce", "uneven_nodes"),
         never=("node2 is slow", "node node2 is slow", "slower node than")),
    Exam("one_of_a_node", ("slow-rank:3",), nodes=2, waiting=12 / 44, site=("MPI_Allreduce", "one_of_a_node")),
    Exam("first_of_each_node", ("slow-rank:0, 2", "slow-rank:0,2", "imbalance:0, 2", "imbalance"), nodes=2, waiting=8 / 44),
    Exam("even_fields", ("healthy",), "fields.f90"),
    Exam("even_script", ("healthy",), "script.py"),
    Exam("below_eager", ("late-receiver",), "partners.c", site=("MPI_Send", "below_eager")),  # healthy was written down: see docs/exams.md
    Exam("input_of_all", ("healthy",), "process.c", steps=60),
]

UNFAIR = [
    # what a send, a lock, a target or a turn waits for
    partners("above_eager", ("late-receiver",), 1 / 2, "MPI_Send"),
    partners("ssends", ("late-receiver",), 1 / 2, "MPI_Ssend"),
    partners("late_senders", ("late-sender",), 1 / 2, "MPI_Recv"),
    partners("held_lock", ("passive-target", "serial-chain"), 2 / 3, "MPI_Win_lock"),
    partners("output_in_turn", ("in-turn", "serial-chain"), 12 / 21, "MPI_Barrier", steps=40),
    partners("pipeline_fill", ("pipeline", "serial-chain"), 1 / 2, "MPI_Recv", steps=40),
    partners("sum_by_hand", ("one-serves-all:0",), 27 / 44, "MPI_Recv"),
    partners("needless_barrier", ("varying-lateness",), None, "MPI_Barrier", chance=True),
    partners("tree", ("late-sender", "serial-chain"), 1 / 2, "MPI_Recv"),
    of_two("late_wait", ("late-receiver",), None, "MPI_Send"),  # whether the send or the receive is first is a race
    of_two("above_eager", ("late-receiver",), 1 / 2, "MPI_Send", seconds=56 * 0.016),
    of_two("ssends", ("late-receiver",), 1 / 2, "MPI_Ssend", seconds=56 * 0.012),
    of_two("late_senders", ("late-sender", "serial-chain"), 1 / 2, "MPI_Recv", seconds=56 * 0.016),
    of_two("passive_target", ("passive-target",), 1 / 2, "MPI_Win_lock", seconds=56 * 0.024),  # where MPICH waits; MPI_Win_unlock was written down
    of_two("held_lock", ("passive-target", "serial-chain"), 2 / 6, "MPI_Win_lock"),
    # the late one is not always the same
    phases("three_in_turn", ("varying-lateness",), 21 / 56, steps=90),
    phases("cancelling", ("varying-lateness",), 28 / 104, steps=90),
    phases("rotating", ("varying-lateness", "rotating"), 21 / 48, chance=True),
    phases("rotating_slowly", ("varying-lateness", "rotating"), 21 / 48, steps=128),
    phases("tail_of_tasks", ("varying-lateness",), None, "MPI_Barrier", steps=50, chance=True),
    phases("stopped", ("slow-rank:2",), 1500 / 3344),
    phases("one_long_step", ("slow-rank:3",), 1482 / 3320),
    phases("slow_for_a_while", ("slow-rank:1",), 39 / 136, steps=90),
    phases("slow_at_first", ("slow-rank:0",), 1776 / 4288, steps=80),
    phases("two_kinds_of_steps", ("slow-rank:1-2", "imbalance:1-2", "imbalance"), 30 / 80, "MPI_Barrier", also_at="MPI_Allreduce"),
    phases("hot_spot", ("varying-lateness",), None, steps=120),
    # the transfer itself, and what one does inside MPI
    Exam("derived_types", ("derived-types", "transfers"), "transfers.c", n=2, steps=40, site=("MPI_Sendrecv", "derived_types")),
    Exam("user_operation", ("user-operation", "transfers"), "transfers.c", n=2, site=("MPI_Allreduce", "user_operation")),
    Exam("user_operation", ("user-operation", "transfers"), "transfers.c", n=2, mpi="mpich", site=("MPI_Allreduce", "user_operation"),
         seconds=56 * 0.004),
    Exam("gather_to_root", ("root-bound:0", "transfers"), "transfers.c", steps=200, site=("MPI_Gather", "gather_to_root")),
    Exam("unexpected_messages", ("late-inside:0", "unexpected:0"), "transfers.c", steps=15, site=("MPI_Recv", "unexpected_messages")),
    Exam("unequal_neighbours", ("late-inside:2-3",), "transfers.c", steps=50, site=("MPI_Sendrecv", "unequal_neighbours")),
    Exam("more_among_few", ("late-inside:0-1",), "transfers.c", steps=50, site=("MPI_Allreduce", "more_among_few")),
    Exam("plain_file", ("slow-rank:0",), "transfers.c", waiting=15 / 44, site=("MPI_Allreduce", "plain_file")),
    Exam("read_and_broadcast", ("slow-rank:0",), "transfers.c", waiting=18 / 44, site=("MPI_Bcast", "read_and_broadcast")),
    Exam("file_of_one", ("late-inside:2",), "transfers.c", waiting=18 / 48, site=("MPI_File_write_at", "file_of_one")),
    Exam("many_small", ("small-messages", "healthy"), "transfers.c", n=2, steps=400),  # they cost 5 %, no more: see docs/exams.md
    # the whole process, threads, asking
    Exam("late_input", ("init:2",), "process.c", steps=40),
    Exam("written_at_the_end", ("finalize:0",), "process.c", steps=60),
    Exam("spawning", ("setup",), "process.c", n=2, steps=10, site=("MPI_Comm_spawn", "spawning")),
    Exam("greedy_threads", ("crowded",), "process.c", n=2, may="0-1"),
    Exam("asks_and_sleeps", ("slow-rank:3",), "process.c", waiting=21 / 56),
    Exam("asking_master", ("polling:0", "polling", "healthy"), "process.c"),
    Exam("late_thread", ("slow-rank:3",), "process.c"),
    # other languages
    Exam("late_neighbour", ("slow-rank:2",), "fields.f90", waiting=18 / 48, site=("MPI_Waitall", "late_neighbour")),
    Exam("sweep", ("serial-chain",), "fields.f90", waiting=3 / 4),
    Exam("sometimes_long", ("slow-rank:1",), "script.py", waiting=72 / 216, site=("MPI_Allreduce", "sometimes_long")),
    Exam("looking_root", ("slow-rank:0",), "script.py", waiting=15 / 40, site=("MPI_Barrier", "looking_root")),
]

# Of the programs that there were before (docs/exams.md): those that sleep, under Open MPI.
STEPS = {"varying": 80, "periodic": 80, "slow_later": 100, "growing": 60, "uneven": 60, "chain": 60,
         "wavefront": 60}
LIKE_OTHERS = ("elsewhere", "yields", "files", "aborted", "halves", "moving", "two_in_turn", "threads", "handed_over")
BEFORE = [
    Exam(cause.name + {".py": "_py", ".f90": "_f90"}.get(cause.source[cause.source.rfind("."):], ""),
         (cause.rule + (f":{cause.culprits(cause.n[0])}" if cause.ranks else ""),), cause.source,
         steps=STEPS.get(cause.name, 56), n=cause.n[0], how=(cause.name,),
         waiting=cause.waiting * (1 - 1 / cause.n[0]) if cause.waiting and cause.ranks == "last" else None,
         chance=cause.name in ("varying",), may="0-3" if cause.rule == "unfinished" else "")
    for cause in CAUSES if cause.how and cause.n[0] and cause.name not in LIKE_OTHERS or cause.source == "slow_rank.f90"
]

EXAMS = FAIR + UNFAIR + BEFORE

# The misses that are known: what is said first instead, and what is said that is false. A rule that is mended takes its rows out.
KNOWN = {
    "asks_and_sleeps": (("healthy",), ()),
    "asking_master": (("imbalance:1-3",), ()),
    "late_thread": (("healthy",), ()),
}
for exam in EXAMS:
    exam.known, exam.known_false = KNOWN.get(exam.label, ((), ()))
