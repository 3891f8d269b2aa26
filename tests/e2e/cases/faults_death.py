"""Every way to end, in both stores and under both launchers: the program's end is its own, and the profile has every call.
The written store is given half a second after the last call, with a period of 0.1 s; what it loses without is measured in
loss.py."""

import os
import pathlib
import signal
import time

from acts import CALLS, STORES, Pair, Running, count_of, our_lines, program, ranks_of
from harness import Skip, case, check, execute, same

QUICK = {"MPIPROF_PERIOD": "0.1"}
CALM = ("before:no_core", "end:pause=500")  # also for the launcher: it drops what it has not yet forwarded

# What ends a rank, and the state that its profile must have. None: whatever reached it first (launchers kill).
ENDS = {"exit=0": None, "exit=5": None, "atexit=5": "finalized", "_exit=5": "exited", "quick_exit=5": "running", "abort": "running",
        "segv": "running", "bus": "running", "fpe": "running", "overflow": "running", "mpi_abort=7": None, "mpi_abort_one=7": None,
        "kill=15": "running", "kill=9": "running", "kill_one=9": "running", "exec": "running"}


def programs_lines(ran):
    """Without what Hydra adds at the end, which depends on which rank it hears of first."""
    return [line for line in ran.out.splitlines() if line.startswith("acts: ")]


def check_end(scene, end, store, ranks):
    pair = Pair(scene, [*CALM, f"end:{end}"], name=f"{end}.{store}", ranks=ranks, env={"MPIPROF_STORE": store, **QUICK})
    same(our_lines(pair.ours), [], f"lines of ours, {end}, {store}")
    same(programs_lines(pair.ours), programs_lines(pair.plain), f"the program's stdout, {end}, {store}")
    if ranks == 1 or scene.mpi == "openmpi":  # Hydra's code is that of whoever it hears of first, also without us
        same(pair.ours.code, pair.plain.code, f"exit code, {end}, {store}\n{pair.ours.err[-2000:]}")
    pair.counts()
    if ENDS[end]:
        pair.state(ENDS[end])
    elif end.startswith("mpi_abort"):  # of several, one gets so far before the launcher kills the others
        found = [rank["state"] for rank in ranks_of(scene, pair.directory).values()]
        check("aborted" in found, f"no rank is said to have aborted, {end}, {store}: {found}")


@case(ranks=2, tier="full", timeout=900)
def every_end_keeps_the_profile_and_is_the_programs(scene):
    for store in STORES:
        for end in ENDS:
            check_end(scene, end, store, ranks=2)


@case(ranks=1, tier="full", timeout=600)
def every_end_of_a_single_rank_has_its_exit_code(scene):
    for store in STORES:
        for end in ENDS:
            check_end(scene, end, store, ranks=1)


@case(ranks=1)
def written_store_is_kept_through_kill_9_and_exec(scene):
    for end in ("kill=9", "exec"):
        check_end(scene, end, "written", ranks=1)


@case(ranks=1, tier="full")
def programs_own_signal_handler_sees_its_signal(scene):
    """Also while our helper thread is there: it takes no signal, and changes no disposition."""
    for store in STORES:
        pair = Pair(scene, ["before:handle_term", "middle:term", "end:pause=300"], env={"MPIPROF_STORE": store, **QUICK})
        pair.unchanged().counts().state("finalized")
        check("the handler saw 15" in pair.ours.out, pair.ours.out)


@case(ranks=2, tier="full")
def launcher_that_is_ended_leaves_whole_profiles(scene):
    """mpirun gets SIGTERM, SIGINT or SIGKILL while all ranks sleep: they die with it, by whatever signal it chooses."""
    for store in STORES:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            codes = {}
            for profiled in (False, True):
                directory = scene.subdir(f"{number}.{store}.{profiled}")
                argv = [*scene.launcher(2), program(scene), CALLS, "end:sleep"]
                with Running(scene, argv, {"MPIPROF_STORE": store, **QUICK}, directory, profiled) as job:
                    job.ready()
                    time.sleep(0.5)
                    codes[profiled] = job.end(number)
                    ours = [line for line in job.err().splitlines() if line.startswith("mpiprof: ")]
                    same(ours, [], f"lines of ours, mpirun after {number}, {store}")
            if number == signal.SIGKILL or scene.mpi == "openmpi":  # Hydra's after the others depends on who ends first: 0 or 15
                same(codes[True], codes[False], f"exit code of mpirun after {number}, {store}")
            time.sleep(1.2)  # Open MPI's ranks notice within a second that mpirun was killed
            same(count_of(scene, directory), {0: CALLS, 1: CALLS}, f"calls, mpirun after {number}, {store}")


@case(ranks=2, attempts=3)
def job_that_hangs_says_where_after_it_was_killed(scene):
    """Rank 0 sleeps, rank 1 waits in a Barrier, for two seconds; then somebody kills the job. CI: the written store, where
    only the helper thread can have said so."""
    hang(scene, "written")


def hang(scene, store):
    directory = scene.subdir(store)
    with Running(scene, [*scene.launcher(2), program(scene), CALLS, "end:hang"], {"MPIPROF_STORE": store, **QUICK}, directory) as job:
        job.ready()
        time.sleep(2)
        job.end(signal.SIGKILL)
    time.sleep(1.2 if scene.mpi == "openmpi" else 0.1)
    same(count_of(scene, directory), {0: CALLS, 1: CALLS}, f"calls, {store}")
    ranks = ranks_of(scene, directory)
    same((ranks[0]["in_call"], ranks[1]["in_call"]), (None, "MPI_Barrier"), f"where the ranks are, {store}")
    waited = ranks[1]["in_call_ns"] / 1e9
    print(f"{store}: rank 1 was in MPI_Barrier for {waited:.3f} s when it was last seen")
    check(1.0 < waited < 8, f"rank 1 is said to have waited {waited} s in MPI_Barrier, {store}")
    summary = " ".join(scene.run_report(cwd=directory).succeeded().out.split())
    check("MPI_Barrier" in summary, f"the report does not name the call:\n{summary}")
    said = " ".join(scene.run_report("hang", cwd=directory).succeeded().out.split())
    check("MPI_Barrier" in said and "end_hang" in said, f"`hang` does not say where rank 1 is, and from where:\n{said}")


@case(ranks=2, tier="full")
def hung_mapped_job_says_where_after_it_was_killed(scene):
    hang(scene, "mapped")


@case(ranks=1, tier="full")
def stopped_and_continued_program_is_counted_whole(scene):
    """SIGSTOP for 700 ms and SIGCONT, as a suspended job or a virtual machine that pauses: nothing is lost, no time is
    negative."""
    for store in STORES:
        pair = Pair(scene, ["middle:stop=700"], env={"MPIPROF_STORE": store, **QUICK})
        pair.unchanged().counts().state("finalized")
        rank = ranks_of(scene, pair.directory)[0]
        check(0.6e9 < rank["elapsed_ns"] < 60e9, f"elapsed {rank['elapsed_ns']} ns, {store}")
        check(rank["mpi_ns"] < rank["elapsed_ns"], f"time in MPI {rank['mpi_ns']} of {rank['elapsed_ns']} ns, {store}")


class MemoryGroup:
    """A memory cgroup of our own below the one that we are in, with a limit; version 1 or 2."""

    def __init__(self, mib):
        own = {line.split(":")[1]: line.rstrip("\n").split(":", 2)[2] for line in open("/proc/self/cgroup")}
        places = [pathlib.Path("/sys/fs/cgroup/memory" + own.get("memory", "/nowhere")), pathlib.Path("/sys/fs/cgroup" + own.get("", "/nowhere"))]
        for place, files in zip(places, (("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"), ("memory.max", "memory.swap.max"))):
            self.path = place / f"mpiprof-test-{os.getpid()}"
            try:
                self.path.mkdir()
                (self.path / files[0]).write_text(str(mib << 20))
            except OSError:
                if self.path.exists():
                    self.path.rmdir()
                continue
            try:
                (self.path / files[1]).write_text(str(mib << 20) if places.index(place) == 0 else "0")
            except OSError:
                pass  # no accounting of swap here
            return
        raise Skip("no memory cgroup can be made here")

    def join(self):
        (self.path / "cgroup.procs").write_text("0")

    def remove(self):
        for _ in range(50):
            try:
                return self.path.rmdir()
            except OSError:
                time.sleep(0.1)


@case(ranks=1, tier="full")
def program_that_the_kernel_kills_for_memory_keeps_its_profile(scene):
    for store in STORES:
        directory = scene.subdir(store)
        group = MemoryGroup(200)
        try:
            env = scene.environment({"MPIPROF_STORE": store, **QUICK, "LD_PRELOAD": scene.preload()})
            argv = [*scene.launcher(1), program(scene), CALLS, *CALM, "end:use_memory"]
            ran = execute(argv, cwd=directory, env=env, preexec=group.join, timeout=60)
        finally:
            group.remove()
        check(ran.code != 0 and "acts: 1 ranks" in ran.out, f"exit code {ran.code}\n{ran.out}{ran.err[-2000:]}")
        same(our_lines(ran), [], "lines of ours")
        same(count_of(scene, directory), {0: CALLS}, f"calls, {store}")
