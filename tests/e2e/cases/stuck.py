"""hang --until-stuck: a running job is looked at until it ends or is proven to hang; what is run then."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import time

from cases.faults_remote import remote_disk
from harness import case, check, end_session, same


@contextlib.contextmanager
def running(scene, ranks, program, directory, env=None, before=()):
    """A job in the background, ended with all its processes behind the block."""
    directory.mkdir(exist_ok=True)
    inner = ["env", "-C", directory, f"LD_PRELOAD={scene.preload(*before)}", *program]
    job = subprocess.Popen([str(word) for word in (*scene.launcher(ranks), *inner)], cwd=scene.dir, env=scene.environment(env), stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        yield job
    finally:
        end_session(job)
        job.wait()


def look(scene, directory, limit, *more):
    return scene.run_report("hang", "--until-stuck", limit, "--interval", "0.3", "--wait", "90", *more, cwd=directory)


def processes_of(program):
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes().split(b"\0")[0] == os.fsencode(program): found.append(int(path.parent.name))
    return found


@case(ranks=3)
def a_deadlock_is_said_and_the_command_is_run_once(scene):
    program = scene.compile("mismatch.c", "-pthread")
    for kind in ("collectives", "receive", "tags"):
        directory = scene.dir / kind
        with running(scene, 2 if kind == "tags" else 3, [program, kind, 200], directory) as job:
            ran = look(scene, directory, "2s")
            same(ran.code, 5, f"{kind}: {ran.out}{ran.err}")
            check(" ".join(ran.out.split()).startswith("Deadlock: "), ran.out)
            # Open MPI's mpirun itself stays after one SIGTERM of eight, with and without a profiler.
            ran = look(scene, directory, "2", "--run", f"echo ended >>{directory}/ended; kill -KILL {job.pid}")
            same((ran.code, (directory / "ended").read_text()), (0, "ended\n"), f"{kind}: {ran.out}{ran.err}")
            job.wait(timeout=60)


@case(ranks=2)
def a_job_that_only_waits_is_not_ended(scene):
    directory = scene.dir / "job"
    with running(scene, 2, [scene.compile("waits.c"), 200], directory):
        ran = look(scene, directory, "2s", "--run", "touch ended")
    same((ran.code, (directory / "ended").exists()), (4, False), ran.out + ran.err)
    check("not running touch ended: the hang is not proven" in ran.err, ran.err)


@case(ranks=2)
def a_job_that_ends_is_looked_at_to_its_end(scene):
    """What had ended before it in the same directory is another job."""
    directory = scene.dir / "job"
    for _ in range(2):
        with running(scene, 2, [scene.compile("waits.c"), 3], directory):
            ran = look(scene, directory, "1m", "--run", "touch ended")
            same((ran.code, ran.out, ran.err, (directory / "ended").exists()), (0, "", "", False), "a job without fault")


@case(ranks=3)
def nothing_is_run_while_a_rank_is_stopped(scene):
    program = scene.compile("mismatch.c", "-pthread")
    directory = scene.dir / "job"
    with running(scene, 3, [program, "collectives", 200], directory):
        end = time.monotonic() + 60
        while len(processes_of(program)) < 3 and time.monotonic() < end: time.sleep(0.2)
        time.sleep(2)
        stopped = processes_of(program)[0]
        os.kill(stopped, signal.SIGSTOP)
        try:
            ran = look(scene, directory, "2s", "--run", "touch ended")
        finally:
            os.kill(stopped, signal.SIGCONT)
    same((ran.code, (directory / "ended").exists()), (5, False), ran.out + ran.err)
    check(re.search(r"not running touch ended: rank \d+ is stopped, perhaps by a debugger", ran.err), ran.err)


# What programs/waiting.c does.
DEADLOCKS = "collectives finalized unanswered roots tags communicators cycle sends itself probes posted scan_and_message root_and_message".split()
HEALTHY = ("computes sleeps writes writes_with_mpi all_compute all_sleep farm farm_that_works master_in_probe master_probes_and_asks late_receiver "
           "late_sender chain any_of_two asks_by_test posted_barrier two_groups late_root gathers makes_a_communicator persistent one_sided "
           "leaves_early to_itself paused accepts waits_before_its_end slow_scan slow_scan_then_messages slow_reduce slow_last_reduce late_scan").split()
LIMIT, INTERVAL = 2, 0.5


@contextlib.contextmanager
def waiting(scene, kind, seconds, name=None, directory=None, **more):
    """Three ranks of it, from the moment at which they wait."""
    directory = directory or scene.dir / (name or kind)
    mark = scene.dir / f"{name or kind}.mark"
    with running(scene, 3, [scene.compile("waiting.c"), kind, seconds, mark], directory, **more) as job:
        end = time.monotonic() + 60
        while not mark.exists():
            check(job.poll() is None and time.monotonic() < end, f"{kind} has not begun: {job.poll()}")
            time.sleep(0.05)
        yield directory, mark.stat().st_mtime


def look_and_end(scene, directory, env=None):
    ended = scene.dir / f"{directory.name}.ended"
    ran = scene.run_report("hang", "--until-stuck", f"{LIMIT}s", "--interval", INTERVAL, "--wait", "30", "--run", f"date +%s.%N >{ended}",
                           cwd=directory, env=env)
    return ran, float(ended.read_text()) if ended.exists() else None


def is_left_alone(scene, directory, label, env=None, why=None):
    ran, ended = look_and_end(scene, directory, env)
    same(ended, None, f"{label} was ended\n{ran.out}{ran.err}")
    check(why is None or re.search(why, ran.err), f"{label}: {ran.code}\n{ran.out}{ran.err}")
    return ran


WITHOUT_PROOF = ("--until-stuck", "2s", "--without-proof", "4s", "--interval", INTERVAL, "--wait", "30")


def look_without_proof(scene, directory):
    ended = scene.dir / f"{directory.name}.ended"
    ran = scene.run_report("hang", *WITHOUT_PROOF, "--run", f"echo ended >>{ended}", cwd=directory)
    return ran, ended.read_text() if ended.exists() else ""


@case(ranks=3, timeout=120)
def without_proof_a_command_is_run_where_nothing_has_happened_for_long_enough(scene):
    with waiting(scene, "computes", 60) as (directory, begun):
        ran, ended = look_without_proof(scene, directory)
        same((ran.code, ended), (0, "ended\n"), ran.out + ran.err)
        check("without a proof of a hang: no call has begun or ended for" in ran.err, ran.err)
        check("Deadlock" not in ran.out, ran.out)
        check(time.time() - begun > 4, "ended too early")
    with waiting(scene, "works", 7) as (directory, _):
        ran, ended = look_without_proof(scene, directory)
        same((ran.code, ran.out, ran.err, ended), (0, "", "", ""), "a job that works")


@case(ranks=3, timeout=240)
def without_proof_nothing_is_run_where_it_cannot_be_known(scene):
    for kind, why, env in (("farm_that_works", "rank 0 has an open receive from MPI_ANY_SOURCE", {}),
                           ("paused", "rank 0 has paused its recording", {}),
                           ("accepts", "rank 0 is in a call that waits for another job", {}),
                           ("computes", r"calls may be missing in the profiles \(MPIPROF_FUNCTIONS\)", {"MPIPROF_FUNCTIONS": "-MPI_Iprobe"}),
                           ("computes", "not every rank is profiled", {"MPIPROF_RANKS": "0,1"})):
        with waiting(scene, kind, 20, f"{kind}{len(env)}{why[:3]}{'RANKS' in str(env)}", env=env) as (directory, _):
            ran, ended = look_without_proof(scene, directory)
            same(ended, "", f"{kind} was ended\n{ran.out}{ran.err}")
            if kind == "accepts" and ran.code == 0: continue  # MPICH over UCX opens no port, and aborts
            same(ran.code, 4, f"{kind}\n{ran.out}{ran.err}")
            check(re.search(f"not running echo .*: {why}", ran.err), f"{kind}\n{ran.out}{ran.err}")


@case(ranks=3, timeout=120)
def functions_that_are_not_recorded_may_be_what_goes_on(scene):
    for env in ({}, {"MPIPROF_FUNCTIONS": "-MPI_Irecv"}):
        with waiting(scene, "answers_what_is_not_recorded", 7, f"filtered{len(env)}", env=env) as (directory, _):
            ran = is_left_alone(scene, directory, "a healthy program")
            same(ran.code, 4, ran.out + ran.err)
            check("Deadlock" not in ran.out, ran.out)
            check(not env or "MPIPROF_FUNCTIONS leaves out calls, so nothing is proven" in " ".join(ran.out.split()), ran.out)
            check(not env or "the hang is not proven: calls may be missing in the profiles (MPIPROF_FUNCTIONS)" in ran.err, ran.err)


@case(ranks=3, timeout=120)
def a_clock_that_is_set_ahead_makes_no_job_silent(scene):
    jump = scene.compile("jump.c", "-shared", "-fPIC", "-ldl", compiler="gcc", label="", name="jump.so")
    for stuck in ("--until-stuck", "1m"), ("--until-stuck", "1m", "--without-proof", "1m"):
        with waiting(scene, "sleeps", 7, f"jump{len(stuck)}") as (directory, _):
            ran = scene.run_report("hang", *stuck, "--interval", INTERVAL, "--wait", "30", "--run", "touch ended", cwd=directory,
                                   env={"JUMP_SECONDS": 86400, "LD_PRELOAD": jump})
            same((ran.code, ran.out, ran.err, (directory / "ended").exists()), (0, "", "", False), "the clock went ahead by a day")


@case(ranks=3, tier="full", timeout=600, attempts=2)
def ten_deadlocked_programs_are_ended_within_two_looks_after_the_limit(scene):
    same(len(DEADLOCKS) >= 10, True, "ten")
    for kind in DEADLOCKS:
        with waiting(scene, kind, 60) as (directory, begun):
            ran, ended = look_and_end(scene, directory)
            same((ran.code, ended is not None), (0, True), f"{kind} was not ended\n{ran.out}{ran.err}")
            late = ended - begun - LIMIT
            print(f"{kind}: {late:.2f} s after the limit")
            check(late < 2 * INTERVAL + 0.5, f"{kind} was ended {late:.1f} s after the limit: half a second is for reading and starting")


@case(ranks=3, tier="full", timeout=900)
def no_healthy_program_is_ended_however_long_it_takes(scene):
    for kind in HEALTHY:
        with waiting(scene, kind, 7) as (directory, _):
            ran = is_left_alone(scene, directory, kind)
            check(ran.code in (0, 4), f"{kind} is called proven\n{ran.out}{ran.err}")
            print(f"{kind}: {ran.code}")


@case(ranks=3, tier="full", timeout=600)
def nothing_is_ended_where_files_or_ranks_are_not_as_they_are(scene):
    """Stopped, held by a debugger, deleted, over quota, frozen, under another clock: of healthy jobs, and of those that hang."""
    program = scene.compile("waiting.c")
    for kind in ("sleeps", "cycle"):
        hangs = kind == "cycle"
        with waiting(scene, kind, 12, f"{kind}.stopped") as (directory, _):
            pid = processes_of(program)[0]
            os.kill(pid, signal.SIGSTOP)
            is_left_alone(scene, directory, f"{kind}, stopped", why="is stopped" if hangs else None)
            os.kill(pid, signal.SIGCONT)
        with waiting(scene, kind, 12, f"{kind}.debugged") as (directory, _):
            gdb = subprocess.Popen([scene.tool("gdb"), "-q", "-nx", "-batch", "-p", str(processes_of(program)[0]), "-ex", "shell sleep 60"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            time.sleep(2)
            is_left_alone(scene, directory, f"{kind}, in gdb", why="perhaps by a debugger" if hangs else None)
            end_session(gdb)
        with waiting(scene, kind, 12, f"{kind}.deleted") as (directory, _):
            scene.profiles(directory)[1].unlink()
            is_left_alone(scene, directory, f"{kind}, a profile deleted")
    jump = scene.compile("jump.c", "-shared", "-fPIC", "-ldl", compiler="gcc", label="", name="jump.so")
    for clock in (86400, -86400):  # what the reporter sees, and what the program does: of a job that hangs, that is proof all the same
        env = {"JUMP_SECONDS": clock}
        with waiting(scene, "sleeps", 12, f"clock{clock}", env=env, before=[jump]) as (directory, _):
            is_left_alone(scene, directory, f"clock set by {clock} s")
        with waiting(scene, "sleeps", 12, f"reporters{clock}") as (directory, _):
            is_left_alone(scene, directory, f"the reporter's clock set by {clock} s", env={**env, "LD_PRELOAD": jump})


@case(ranks=3, tier="full", timeout=600)
def nothing_is_ended_where_files_are_old(scene):
    """Over quota, and on a file system that stands still: the ranks live, but what they did since is not in the files."""
    for condition in ("write 122", "frozen"):
        for kind in ("sleeps", "cycle"):
            name = f"{kind}.{condition.replace(' ', '')}"
            with remote_disk(scene, name) as (directory, below, fallback, obey):
                env = {"MPIPROF_PERIOD": "0.2", "TMPDIR": fallback}
                with waiting(scene, kind, 20, name, directory, env=env):
                    time.sleep(1)
                    obey(condition)
                    time.sleep(4)
                    is_left_alone(scene, below, f"{kind}, {condition}")
                    obey()
