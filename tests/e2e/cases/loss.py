"""The table of measured loss (docs/reliability.md): calls lost of calls made, for each end, store and launcher. The program
keeps its own count in a shared mapping (acts.Tally), so what it had done when it died is known exactly.

  mapped    nothing but the call in flight: done <= profile <= begun, whenever SIGKILL comes
  written   at most one period; here 0.2 s, and what a busy machine adds

LOSS_SEED and LOSS_KILLS change the seed and the number of kills."""

import json
import os
import random
import signal
import statistics
import time

from acts import STORES, Running, Tally, count_of, program
from harness import case, check, same

PERIOD_S = 0.2
KILLS_AT_START = 36
# Asleep for a period, then up to this late and this slow on a machine with other work. A write that took longer than a
# thousandth of the period makes the next one wait (that is the promise); the profile then says which period it was.
LATE_S = 0.5
FOREVER = 1 << 40


def period_in_force(scene, directory, profile):
    """Seconds, as the profile says: header field store_period_ms."""
    data = profile.read_bytes()
    return int.from_bytes(data[152:156], "little") / 1000


def kill_at(scene, directory, store, delay_s, period_s=PERIOD_S):
    """One rank alone; SIGKILL after so many seconds of calls. Returns (begun, done, in the profile, seconds lost, period)."""
    env = {"MPIPROF_STORE": store, "MPIPROF_PERIOD": period_s, "ACTS_TALLY": directory / "tally", "MPIPROF_JOB": "k"}
    tally = directory / "tally.0"
    with Running(scene, [program(scene), FOREVER], env, directory) as job:
        until = time.monotonic() + 60
        while not (tally.exists() and tally.stat().st_size and Tally(tally).done):
            check(time.monotonic() < until and job.process.poll() is None, f"the program makes no calls:\n{job.err()}")
            time.sleep(0.001)
        time.sleep(delay_s)
        same(job.end(signal.SIGKILL), -signal.SIGKILL, "how the program ended")
    seen, profile = Tally(tally), directory / "mpi_profile.k.0"
    # The written store's file is empty until its first write, which a busy machine may keep waiting like any other.
    is_written = profile.stat().st_size > 0
    found = count_of(scene, directory).get(0, 0) if is_written else 0
    period = period_in_force(scene, directory, profile) if is_written else period_s
    return seen.begun, seen.done, found, seen.seconds_since(found), period


def random_kills(scene, store, kills, longest_s):
    kills = int(os.environ.get("LOSS_KILLS", kills))
    seed = int(os.environ.get("LOSS_SEED", "20261120"))
    moments = random.Random(f"{seed} {store} {scene.mpi}")
    lost, made, seconds, worst = [], 0, [], 0.0
    for number in range(kills):
        directory = scene.subdir(f"{store}.{number}")
        begun, done, found, late, period = kill_at(scene, directory, store, moments.uniform(0, longest_s))
        what = f"kill {number} of seed {seed}: {begun} calls begun, {done} done, {found} in the profile"
        check(found <= begun, f"more calls than were made; {what}")
        if store == "mapped":
            check(found >= done, f"a call that had returned is lost; {what}")
        else:
            check(late <= max(period, PERIOD_S) + LATE_S, f"{late:.2f} s are lost, with a period of {period:.2f} s; {what}")
        lost.append(max(0, done - found))
        made += done
        seconds.append(late)
        worst = max(worst, lost[-1] / max(done, 1))
    print(f"LOSS | SIGKILL at {kills} random moments | {store} | {scene.mpi} | {sum(lost)} of {made} calls"
          f" | {100 * sum(lost) / made:.3f} % (worst {100 * worst:.1f} %) | mean {statistics.mean(seconds):.2f} s, worst {max(seconds):.2f} s | seed {seed}")


@case(ranks=1)
def sigkill_loses_what_each_store_promises(scene):
    """A few random moments of each store; a hundred of each are in the full tier."""
    for store in STORES:
        random_kills(scene, store, 4, 0.6)


@case(ranks=1, tier="full", timeout=900)
def sigkill_at_a_hundred_random_moments_loses_nothing_that_is_mapped(scene):
    random_kills(scene, "mapped", 100, 0.6)


@case(ranks=1, tier="full", timeout=900)
def sigkill_at_a_hundred_random_moments_loses_at_most_a_period_of_what_is_written(scene):
    random_kills(scene, "written", 100, 1.5)


@case(ranks=1)
def job_that_is_killed_early_leaves_what_it_did_until_shortly_before(scene):
    """However long the period: the first writes come soon after MPI_Init, at 0, 50, 150 and 350 ms. Three times, since a busy
    machine may keep a write waiting."""
    lost = []
    for number in range(3):
        begun, done, found, late, _ = kill_at(scene, scene.subdir(f"early.{number}"), "written", 0.4, 60)
        check(found <= begun, f"more calls than were made: {found} of {begun}")
        print(f"killed after 0.4 s: {found} of {done} calls are in the profile, {late:.2f} s are lost")
        lost.append(late)
    check(min(lost) <= 0.3, f"lost of 0.4 s: {lost}")


# Every other end, in the middle of making calls: one rank of two ends, and the launcher ends the other by its own means.
ENDS = ("exit=0", "exit=5", "_exit=5", "quick_exit=5", "abort", "segv", "overflow", "mpi_abort=7", "mpi_abort_one=7", "kill=15", "kill_one=9")
REPEATS = 3


@case(ranks=2, tier="full", timeout=1500)
def every_end_loses_what_each_store_promises(scene):
    """Two ranks, no pause before the end. What returned before the end began is counted; nothing is there twice."""
    print(f"LOSS | end | store | MPI | calls lost of calls made, {REPEATS} runs of two ranks | worst, in seconds")
    for store in STORES:
        for end in ENDS:
            lost = made = 0
            worst = 0.0
            for number in range(REPEATS):
                directory = scene.subdir(f"{end}.{store}.{number}")
                env = {"MPIPROF_STORE": store, "MPIPROF_PERIOD": PERIOD_S, "ACTS_TALLY": directory / "tally", "MPIPROF_JOB": "k"}
                scene.mpirun(2, [program(scene), 20000, "before:no_core", "middle:pause=150", f"end:{end}"], env=env, cwd=directory, timeout=100)
                found = count_of(scene, directory)
                for rank in (0, 1):
                    seen = Tally(directory / f"tally.{rank}")
                    in_profile = found.get(rank, 0)
                    what = f"{end}, {store}, run {number}, rank {rank}: {seen.begun} begun, {seen.done} done, {in_profile} in the profile"
                    check(in_profile <= seen.begun, f"more calls than were made; {what}")
                    period = period_in_force(scene, directory, directory / f"mpi_profile.k.{rank}")
                    late = seen.seconds_since(in_profile)
                    if store == "mapped" or (end.startswith("mpi_abort_one") and rank == 0):  # MPI_Abort writes first
                        check(in_profile >= seen.done, f"a call that had returned is lost; {what}")
                    else:
                        check(late <= max(period, PERIOD_S) + LATE_S, f"{late:.2f} s are lost, with a period of {period:.2f} s; {what}")
                    lost += max(0, seen.done - in_profile)
                    made += seen.done
                    worst = max(worst, late)
            print(f"LOSS | {end} | {store} | {scene.mpi} | {lost} of {made} | {worst:.2f} s")


@case(ranks=1, tier="full", timeout=900)
def kill_while_mpi_begins_leaves_a_profile_or_none(scene):
    """SIGKILL at random moments of MPI_Init and just after: the file is not there, or the reporter reads it or says in one
    line that recording had not begun. Never a crash, never a number that is wrong."""
    moments = random.Random(int(os.environ.get("LOSS_SEED", "20261120")))
    seen = {"no file": 0, "read": 0, "not begun": 0}
    for number in range(KILLS_AT_START):
        store = STORES[number % 2]
        directory = scene.subdir(str(number))
        env = {"MPIPROF_STORE": store, "MPIPROF_PERIOD": PERIOD_S, "MPIPROF_JOB": "k"}
        with Running(scene, [program(scene), FOREVER], env, directory) as job:
            profile = directory / "mpi_profile.k.0"
            until = time.monotonic() + 20
            while number % 3 and not profile.exists() and time.monotonic() < until:  # two of three: when the file appears
                time.sleep(0.0003)
            time.sleep(moments.uniform(0, 0.002 if number % 3 else 0.25))
            job.end(signal.SIGKILL)
        if not profile.exists():
            seen["no file"] += 1
            continue
        ran = scene.run_report("export", "-f", "json", cwd=directory)
        check(ran.code in (0, 3), f"exit code {ran.code} of the report\n{ran.err}")
        if ran.code == 0:
            same([rank["rank"] for rank in json.loads(ran.out)["ranks"]], [0], "ranks")
            seen["read"] += 1
        else:
            check("mpi_profile.k.0" in ran.err, f"the report does not name the file:\n{ran.err}")
            seen["not begun"] += 1
    print(f"{KILLS_AT_START} kills while MPI began: {seen}")
    check(seen["read"], "no kill came after the file was there")
