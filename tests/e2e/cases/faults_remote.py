"""File systems as computing centres have them on a bad day: slow, standing still, over quota, with stale handles. A real one of
ours by way of FUSE (programs/remote.c): the program does not notice, no rank waits long, and the profile is found."""

import contextlib
import shutil
import subprocess
import time

from acts import CALLS, Tally, count_of, our_lines, program, states
from harness import Skip, case, check, execute, same

QUICK = {"MPIPROF_PERIOD": "0.1"}
MANY = 5_000_000  # calls: some seconds
ERRNO = {"EIO": 5, "ENOSPC": 28, "ESTALE": 116, "EDQUOT": 122}


@contextlib.contextmanager
def remote_disk(scene, name):
    """A directory of its own on such a file system; what `obey(line, ...)` is given holds from then on."""
    if not shutil.which("fusermount3"):
        raise Skip("there is no FUSE here")
    flags = execute(["pkg-config", "--cflags", "--libs", "fuse3"])
    if flags.code != 0:
        raise Skip("libfuse3-dev is not installed")
    serve = scene.compile("remote.c", *flags.out.split(), compiler="gcc", label="")
    place = scene.subdir(name)
    below, mount, rules, fallback = place / "below", place / "mnt", place / "rules", place / "fallback"
    for directory in (below, mount, fallback):
        directory.mkdir()

    def obey(*lines):
        part = place / "rules.part"
        part.write_text("".join(line + "\n" for line in lines))
        part.rename(rules)

    obey()
    server = subprocess.Popen([serve, rules, below, mount], stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        for _ in range(100):
            if mount.stat().st_dev != place.stat().st_dev: break
            if server.poll() is not None: raise Skip("no file system can be mounted here")
            time.sleep(0.05)
        else:
            raise Skip("no file system is mounted within 5 s")
        (mount / "job").mkdir()
        yield mount / "job", below / "job", fallback, obey
    finally:
        obey()
        execute(["fusermount3", "-u", "-z", mount])
        with contextlib.suppress(subprocess.TimeoutExpired): server.wait(10)
        if server.poll() is None: server.kill()


def start(scene, directory, fallback, acts, ranks=2, calls=CALLS, env=None):
    """Ranks that run in the directory, which is the remote one; mpirun itself does not."""
    env = scene.environment({**QUICK, "TMPDIR": fallback, **(env or {})})
    inner = ["env", "-C", directory, "LD_PRELOAD=" + scene.preload(), program(scene), calls, *acts]
    return subprocess.Popen([str(a) for a in (*scene.launcher(ranks), *inner)], cwd=scene.dir, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, start_new_session=True)


def end_of(job, timeout=100):
    out, err = job.communicate(timeout=timeout)
    return type("Ran", (), {"code": job.returncode, "out": out, "err": err})


def longest_pause(path):
    """Between two calls of MPI, in seconds, and for how long there were calls."""
    busy = [slot for slot, done in enumerate(Tally(path).at) if done]
    return max(after - before for before, after in zip(busy, busy[1:])) / 100, busy[-1] / 100


@case(ranks=1, tier="full")
def file_system_that_is_slow_slows_nobody(scene):
    """Every operation takes 50 ms: the longest pause between two calls of MPI stays short, and the profile is exact."""
    with remote_disk(scene, "slow") as (directory, below, fallback, obey):
        obey("delay 50")
        ran = end_of(start(scene, directory, fallback, [], ranks=1, calls=MANY, env={"ACTS_TALLY": scene.dir / "tally"}))
        same((ran.code, our_lines(ran)), (0, []), f"exit code and lines of ours\n{ran.err}")
        same(count_of(scene, below), {0: MANY}, "calls")
        pause, seconds = longest_pause(scene.dir / "tally.0")
        print(f"{seconds:.1f} s of calls; the longest pause between two was {pause:.2f} s")
        check(pause < 1, f"the program stood still for {pause} s")


@case(ranks=2, tier="full")
def file_system_that_answers_with_errors_costs_the_profile_at_most_its_place(scene):
    for operation in ("create", "write", "flush"):
        for error, number in ERRNO.items():
            with remote_disk(scene, f"{operation}.{error}") as (directory, below, fallback, obey):
                obey(f"{operation} {number}")
                ran = end_of(start(scene, directory, fallback, ["middle:pause=300"]))
                same(ran.code, 0, f"exit code, {operation} {error}\n{ran.err}")
                found = {**count_of(scene, below), **count_of(scene, fallback)} if scene.profiles(below) else count_of(scene, fallback)
                same(found, {0: CALLS, 1: CALLS}, f"calls, {operation} {error}; {our_lines(ran)}")
                same(len(our_lines(ran)), 1, f"lines of ours, {operation} {error}: {our_lines(ran)}")
                print(f"{operation} {error}: {our_lines(ran)}")


@case(ranks=1, tier="full")
def file_system_that_stands_still_for_a_while_stops_nobody(scene):
    """Frozen for 3 s while the program calls MPI all the time: it goes on, and the profile is intact at the end."""
    with remote_disk(scene, "frozen") as (directory, below, fallback, obey):
        job = start(scene, directory, fallback, ["middle:pause=100"], ranks=1, calls=4 * MANY, env={"ACTS_TALLY": scene.dir / "tally"})
        time.sleep(1.5)
        obey("frozen")
        time.sleep(3)
        obey()
        ran = end_of(job)
        same((ran.code, our_lines(ran)), (0, []), f"exit code and lines of ours\n{ran.err}")
        same((count_of(scene, below), states(scene, below)), ({0: 4 * MANY}, {0: "finalized"}), "calls and state")
        pause, seconds = longest_pause(scene.dir / "tally.0")
        print(f"{seconds:.1f} s of calls; the longest pause between two was {pause:.2f} s")
        check(pause < 1, f"the program stood still for {pause} s")


@case(ranks=2, tier="full")
def file_system_that_stands_still_at_the_end_keeps_no_rank(scene):
    """It stands still from the middle of the run on: the ranks end all the same, and leave their profiles where the node has room."""
    with remote_disk(scene, "dead") as (directory, below, fallback, obey):
        job = start(scene, directory, fallback, ["middle:pause=3000"])
        time.sleep(1.5)
        obey("frozen")
        began = time.monotonic()
        ran = end_of(job)
        took = time.monotonic() - began
        print(f"{took:.1f} s after it began to stand still the job was over; {our_lines(ran)}")
        same(ran.code, 0, f"exit code\n{ran.err}")
        check(took < 25, f"the job took {took:.1f} s more")
        same((count_of(scene, fallback), states(scene, fallback)), ({0: CALLS, 1: CALLS}, {0: "finalized", 1: "finalized"}), "calls and states")
        same(len(our_lines(ran)), 1, f"lines of ours: {our_lines(ran)}")
        check("the file system does not answer" in our_lines(ran)[0], our_lines(ran)[0])
