"""hang --until-stuck: a running job is looked at until it ends or is proven to hang; what is run then."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import time

from harness import case, check, end_session, same


@contextlib.contextmanager
def running(scene, ranks, program, directory):
    """A job in the background, ended with all its processes behind the block."""
    directory.mkdir(exist_ok=True)
    env = scene.environment({})
    env["LD_PRELOAD"] = str(scene.preload())
    job = subprocess.Popen([str(word) for word in (*scene.launcher(ranks), *program)], cwd=directory, env=env, stdin=subprocess.DEVNULL,
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
