"""Programs with one known cause of lost time each, and what the first line of the report has to say of them: one row a cause. Cases
run a row once (cases/verdicts.py); `exam_causes.py` runs all of them again and again. What is slept through a busy machine disturbs
little; what is computed is right only where nobody else computes."""

import contextlib
import json
import os
import pathlib
import resource
import subprocess
import sys
import time
from dataclasses import dataclass

from harness import PROGRAMS, Skip, check, same

cores = len(os.sched_getaffinity(0))
most_ranks = 16  # on machines with many cores the crowd would be too large
most_foreign = 0.1  # of the processors: what others than the job may use
ATTEMPTS = 4


@dataclass
class Cause:
    name: str
    steps: int
    how: str  # sleep, or computed if empty
    rule: str
    ranks: str = None  # the culprits: "last", numbers, or none
    n: tuple = (4, 2)  # ranks under Open MPI and MPICH, whose ranks spin while they wait; 0: not there
    waiting: float = None  # of the others' run, where it follows from the program
    source: str = "causes.c"

    @property
    def label(self):
        return f"{self.name}{', computed' if self.source == 'causes.c' and not self.how else ''}"

    def size(self, mpi):
        return self.n[mpi == "mpich"]

    def culprits(self, size):
        if self.ranks in ("last", "all"):
            return str(size - 1) if self.ranks == "last" else f"0-{size - 1}"
        return {"1-2": "1" if size == 2 else "1-2"}.get(self.ranks, self.ranks)


CAUSES = [
    Cause("slow_rank", 150, "sleep", "slow-rank", "last", waiting=6 / 16),
    Cause("slow_rank", 150, "", "slow-rank", "last", n=(2, 2), waiting=6 / 16),
    Cause("slow_later", 200, "sleep", "slow-rank", "1-2", waiting=3 / 13),
    Cause("growing", 100, "sleep", "growing-work", "3", n=(4, 0)),
    Cause("uneven", 100, "sleep", "imbalance", "1", n=(4, 0)),
    Cause("varying", 150, "sleep", "varying-lateness"),
    Cause("moving", 150, "sleep", "varying-lateness"),
    Cause("periodic", 150, "sleep", "slow-rank", "1", waiting=5.5 / 10.5),
    Cause("threads", 150, "sleep", "slow-rank", "last", waiting=6 / 16),
    Cause("chain", 100, "sleep", "serial-chain"),
    Cause("wavefront", 100, "sleep", "serial-chain", n=(4, 0)),
    Cause("serving", 100, "sleep", "one-serves-all", "0", n=(4, 0)),
    Cause("polling", 150, "sleep", "slow-rank", "last"),
    Cause("asking", 150, "sleep", "polling", n=(2, 2)),
    Cause("halves", 60, "sleep", "slow-rank", "2-3", n=(4, 0)),
    Cause("small_messages", 1500, "", "small-messages", n=(2, 2)),
    Cause("cheap_calls", 200, "", "cheap-calls", n=(2, 2)),
    Cause("late_in_init", 50, "sleep", "init", "1", n=(3, 3)),
    Cause("beside", 300, "", "overlap", n=(2, 2)),
    Cause("elsewhere", 150, "sleep", "slow-rank", "last", waiting=6 / 16),
    Cause("handed_over", 150, "sleep", "slow-rank", "last", waiting=6 / 16),
    Cause("one_exchanges", 150, "sleep", "late-inside", "last", waiting=1 / 2),
    Cause("one_writes", 150, "sleep", "late-inside", "0", waiting=1 / 2),
    Cause("two_exchange", 100, "sleep", "late-inside", "0-1", n=(4, 0)),
    Cause("two_in_turn", 200, "sleep", "varying-lateness", n=(4, 0)),
    Cause("late_in_finalize", 50, "sleep", "finalize", "1", n=(3, 3)),
    Cause("transfers", 100, "", "transfers", n=(2, 2)),
    Cause("duplicates", 10000, "", "setup", n=(2, 2)),
    Cause("files", 150, "sleep", "file-io", n=(2, 2)),
    Cause("slow_rank", 150, "", "slow-rank", "last", waiting=6 / 16, source="slow_rank.f90"),
    Cause("slow_rank", 150, "", "slow-rank", "last", n=(4, 0), waiting=6 / 16, source="slow_rank.py"),
    Cause("healthy", 150, "sleep", "healthy"),
    Cause("healthy", 150, "", "healthy", n=(2, 2)),
    Cause("yields", 150, "sleep", "healthy"),
    Cause("crowd", 100, "", "crowded", "all", n=(2 * cores, 0)),
    Cause("crowd", 100, "", "crowded", "all", n=(3 * cores, 0)),
    Cause("throttled", 150, "", "slow-rank", "last", n=(2, 2)),
    Cause("killed", 100, "sleep", "unfinished", "1", n=(4, 4)),
    Cause("aborted", 100, "sleep", "unfinished", "2", n=(4, 4)),
]


def busy_seconds():
    """What all processors together have worked since the machine started."""
    user, nice, system, _, _, irq, softirq = map(int, open("/proc/stat").readline().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextlib.contextmanager
def others_on_the_cores(count):
    """So many processes that compute, for as long as it lasts."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes: process.kill()
        for process in processes: process.wait()


def command(scene, cause):
    if cause.source.endswith(".py"):
        return [scene.python_with("mpi4py"), PROGRAMS / cause.source, cause.steps]
    program = scene.compile(cause.source, *(["-pthread"] if cause.source.endswith(".c") else []))
    return [program, *([cause.name] if cause.source == "causes.c" else []), cause.steps, *([cause.how] if cause.how else [])]


@contextlib.contextmanager
def cgroup_of_quota(share):
    """A new cgroup whose processes together have so much of one processor, by either version of cgroups."""
    one, two = pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")
    period = 20000
    quota = {"cpu.cfs_period_us": str(period), "cpu.cfs_quota_us": str(int(share * period))} if one.is_dir() else \
        {"cpu.max": f"{int(share * period)} {period}"}
    group = (one if one.is_dir() else two) / f"mpiprof-test.{os.getpid()}"
    try:
        group.mkdir()
        try:
            for name, value in quota.items():
                (group / name).write_text(value)
            yield group
        finally:
            remove(group)
    except OSError as why:
        raise Skip(f"no cgroup with a quota can be made here: {why}") from None


def remove(group, seconds=5):
    """Whose last process may not be gone yet."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            return group.rmdir()
        time.sleep(0.1)


def run(scene, cause, words, directory):
    if cause.name != "throttled":
        return scene.mpirun(cause.size(scene.mpi), words, cwd=directory)
    with cgroup_of_quota(0.6) as group:
        return scene.mpirun(cause.size(scene.mpi), words, cwd=directory, env={"CGROUP": str(group)})


def verdict(scene, directory):
    return json.loads(scene.run_report("summary", "--format", "json", cwd=directory).succeeded().out)


def judged(scene, cause, attempts=ATTEMPTS):
    """The summary as data, of a run that others disturbed little, if there is one; with `foreign`, their share of the processors, and
    how many runs there were."""
    words = command(scene, cause)
    for attempt in range(1 if cause.rule == "unfinished" else attempts):  # what the dead have used is nobody's
        directory = scene.subdir(f"{cause.label.replace(', ', '.')}.{cause.rule}.{cause.source.split('.')[-1]}.{attempt}")
        busy, own, began = busy_seconds(), own_seconds(), time.monotonic()
        run(scene, cause, words, directory)
        others = busy_seconds() - busy - (own_seconds() - own)
        said = verdict(scene, directory)
        said["foreign"], said["runs"] = others / (time.monotonic() - began) / os.cpu_count(), attempt + 1
        if said["foreign"] < most_foreign:
            break
    return said


def is_right(said, cause, size):
    found = said["verdict"]
    return (found["rule"], found["ranks"]) == (cause.rule, cause.culprits(size))


def expect(scene, name, **which):
    """The verdict of the cause's first row, which has to be right; and all that was said."""
    cause = next(c for c in CAUSES if c.name == name and all(getattr(c, key) == value for key, value in which.items()))
    size = cause.size(scene.mpi)
    check(size, f"{name} is not for {scene.mpi}")
    if size > most_ranks:
        raise Skip(f"{name} takes {size} ranks on {cores} cores")
    said = judged(scene, cause)
    found = said["verdict"]
    if not is_right(said, cause, size) and said["foreign"] > most_foreign:
        raise Skip(f"others use {100 * said['foreign']:.0f} % of the processors: {found['text']}")
    same((found["rule"], found["ranks"]), (cause.rule, cause.culprits(size)), found["text"])
    return found, said
