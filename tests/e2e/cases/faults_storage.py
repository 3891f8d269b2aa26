"""Disks that are full, slow, gone or in others' hands, and clocks that jump: the program does not notice, the profile is
exact where it could be kept, and one line says where it is if not where it was asked for."""

import os
import re
import shutil
import stat
import time

from acts import CALLS, STORES, OpenPlace, Pair, Tally, count_of, our_lines, program, ranks_of, states
from harness import Skip, case, check, same

QUICK = {"MPIPROF_PERIOD": "0.1"}


def namespace(scene):
    """Own mounts, that nobody else sees and that go with the last process."""
    for command in (["unshare", "-m"], ["unshare", "-Urm"]):
        if shutil.which("unshare") and scene.alone([*command, "true"], profiled=False).code == 0:
            return command
    raise Skip("no mount namespace can be made here")


def on_small_disk(scene, name, size, before, argv, env, profiled):
    """Runs argv with a tmpfs of `size` (or "ext4": an image of 1 MiB) as its directory; what is left on it is kept below
    `name`."""
    place = scene.subdir(name)
    (place / "mnt").mkdir()
    (place / "fallback").mkdir()
    mount = f"mount -t tmpfs -o size={size} none mnt"
    if size == "ext4":  # fails where the machine has no loop device for us
        mount = "/sbin/mkfs.ext4 -q -O ^has_journal image 1024k && mount -o loop image mnt"
    script = f'{mount} || exit 77; cd mnt; {before}; "$@"; code=$?; cp -a . ../kept; exit $code'
    full = {**env, "TMPDIR": place / "fallback"}
    if profiled:
        argv = ["env", "LD_PRELOAD=" + scene.preload(), *argv]
    ran = scene.alone([*namespace(scene), "sh", "-c", script, "sh", *argv], profiled=False, env=full, cwd=place, timeout=100)
    if ran.code == 77:
        raise Skip(f"no disk can be mounted here: {ran.err.strip()}")
    return ran, place


def small_disk(scene, store, size, before, acts, ranks=2):
    argv = [*scene.launcher(ranks), program(scene), CALLS, *acts]
    label = re.sub(r"\W+", "_", f"{store} {size} {before} {' '.join(acts)}")[:80]
    env = {"MPIPROF_STORE": store, **QUICK}
    plain, _ = on_small_disk(scene, label + ".plain", size, before, argv, env, False)
    ours, place = on_small_disk(scene, label, size, before, argv, env, True)
    same((ours.code, ours.out), (plain.code, plain.out), f"exit code and stdout on {label}\n{ours.err[-2000:]}")
    check(len(our_lines(ours)) <= 1, f"lines of ours on {label}: {our_lines(ours)}")
    # A rank's profile is on the disk if it could be kept there, else in the fallback.
    counts = {}
    for directory in (place / "kept", place / "fallback"):
        if scene.profiles(directory):
            counts.update(count_of(scene, directory))
    same(counts, {rank: CALLS for rank in range(ranks)}, f"calls on {label}; {our_lines(ours)}")
    print(f"{label}: {len(scene.profiles(place / 'kept'))} profiles on the disk, {len(scene.profiles(place / 'fallback'))} elsewhere;"
          f" {our_lines(ours)}")


FULL = "head -c 400000 /dev/zero > filler 2>&- || true"


@case(ranks=2)
def full_disk_of_256_kib_changes_nothing(scene):
    small_disk(scene, "mapped", "256k", FULL, [])
    small_disk(scene, "written", "256k", ":", ["middle:fill", "middle:threads=8"])


@case(ranks=2, tier="full")
def full_ext4_changes_nothing(scene):
    """Where a sparse mapping would end the program by SIGBUS. Space is taken as the file grows, or it goes elsewhere."""
    for store in STORES:
        small_disk(scene, store, "ext4", "cat /dev/zero > filler 2>&- || true", [])
        small_disk(scene, store, "ext4", ":", ["middle:fill", "middle:threads=16"])


@case(ranks=2, tier="full")
def disk_that_is_full_or_fills_at_any_moment_changes_nothing(scene):
    for store in STORES:
        small_disk(scene, store, "256k", FULL, [])
        small_disk(scene, store, "256k", "head -c 150000 /dev/zero > filler", ["middle:threads=16"])
        small_disk(scene, store, "256k", ":", ["middle:fill", "middle:threads=16"])
        small_disk(scene, store, "256k", ":", ["middle:fill", "middle:threads=16", "end:pause=300", "end:unfill"])
        small_disk(scene, store, "256k", ":", ["end:fill"])
        small_disk(scene, store, "256k,nr_inodes=2", "touch filler", [])


ERRORS = ("EIO", "ESTALE", "EDQUOT", "ENOSPC", "EROFS")


def on_faulty_disk(scene, store, rules, acts=(), calls=CALLS, name=None):
    """A single rank under programs/faulty.c, without and with the library; and the fallback that TMPDIR names."""
    faulty = scene.compile("faulty.c", compiler="gcc", label="")
    label = name or re.sub(r"[^\w]+", "_", f"{store} {' '.join(rules)} {' '.join(acts)}")[:80]
    runs = []
    for profiled in (False, True):
        directory, fallback = scene.subdir(f"{label}.{profiled}"), scene.subdir(f"{label}.{profiled}.fallback")
        env = {"MPIPROF_STORE": store, **QUICK, "TMPDIR": fallback, "FAULTY_DIR": f"{directory}/", "FAULTY_LOG": scene.dir / f"{label}.{profiled}.log"}
        ranks = [*scene.launcher(1), faulty, *rules, "--", "env", *(["LD_PRELOAD=" + scene.preload()] if profiled else []), program(scene), calls, *acts]
        began = time.monotonic()
        ran = scene.alone(ranks, profiled=False, env=env, cwd=directory, timeout=100)
        if ran.code == 77:
            raise Skip(ran.err.strip().splitlines()[-1])
        runs.append((ran, directory, fallback, time.monotonic() - began))
    (plain, *_), (ours, directory, fallback, seconds) = runs
    same((ours.code, ours.out), (plain.code, plain.out), f"exit code and stdout, {label}\n{ours.err[-2000:]}")
    check(len(our_lines(ours)) <= 1, f"lines of ours, {label}: {our_lines(ours)}")
    check((scene.dir / f"{label}.True.log").exists(), f"the disk never failed, {label}")
    return ours, directory, fallback, seconds


def is_exact(scene, directory):
    return scene.run_report("export", "-f", "csv", cwd=directory).code == 0 and count_of(scene, directory) == {0: CALLS}


@case(ranks=1)
def disk_that_answers_with_errors_costs_the_profile_at_most_its_place(scene):
    """Every write fails: the profile is found in the fallback directory, and one line says so."""
    faulty_rows(scene, "written", [["write=EIO"]])


def faulty_rows(scene, store, rows, acts=("middle:pause=400",)):
    for rules in rows:
        ours, directory, fallback, _ = on_faulty_disk(scene, store, rules, acts)
        found = [place for place in (directory, fallback) if is_exact(scene, place)]
        said = our_lines(ours)
        print(f"{store}, {' '.join(rules)}: exact in {'directory' if directory in found else 'fallback' if fallback in found else 'neither'}; {said}")
        check(found, f"{store}, {rules}: no exact profile; {said}")
        check(directory in found or len(said) == 1, f"{store}, {rules}: the profile is elsewhere and nothing says so")


@case(ranks=1, tier="full", timeout=600)
def every_error_of_a_disk_at_every_moment_is_survived(scene):
    faulty_rows(scene, "written", [[f"write={error}"] for error in ERRORS])
    faulty_rows(scene, "written", [["write=EIO@1-3"], ["write=EIO@2-"], ["write=EINTR@1-20"], ["short=1000"], ["short=1"], ["write=EIO@200-", "short=1"],
                                   ["create=EACCES@1"], ["create=EROFS@1"], ["create=ENOSPC@1"], ["create=EDQUOT@1"]])
    faulty_rows(scene, "mapped", [["space=ENOSPC"], ["space=EDQUOT@2-"], ["space=EINTR@1-5"], ["create=EACCES@1"]], acts=("middle:threads=8",))


@case(ranks=1)
def write_that_hangs_does_not_stop_the_program(scene):
    """A write hangs for half a minute, be it the very first one, which begins while MPI_Init still runs, or a later one; the
    program computes, ends and leaves its profile meanwhile. How many writes bring the file up to date the first time depends
    on what the node has to be described by (its interfaces, say), so a few numbers are tried."""
    for number in (1, 2, 4, 5):
        hanging_write(scene, 30, number)


LATE_WRITES = (4, 6)


def hanging_write(scene, seconds, number):
    ours, directory, _, took = on_faulty_disk(scene, "written", [f"stall={seconds}@{number}-{number}"], ["middle:pause=600"])
    check(took < seconds - 5, f"the run took {took:.1f} s beside write {number}, which hangs for {seconds} s")
    same(count_of(scene, directory), {0: CALLS}, "calls")
    same(our_lines(ours), [], "lines of ours")
    print(f"the run took {took:.1f} s beside write {number}")


@case(ranks=1, tier="full")
def write_that_hangs_for_a_minute_does_not_stop_the_program(scene):
    hanging_write(scene, 60, 4)


@case(ranks=1, tier="full")
def write_that_comes_late_does_not_undo_the_end(scene):
    """A write of the helper's hangs, the program ends its profile meanwhile and lives on, and the write comes after all: what
    the helper has copied of before must not lie on what was written at the end. The second time nothing else can be written
    there either, and the profile goes elsewhere."""
    for number in LATE_WRITES:  # among the first
        ours, directory, _, _ = on_faulty_disk(scene, "written", [f"stall=2@{number}-{number}"], ["middle:pause=600", "after:pause=2500"])
        print(number, count_of(scene, directory), states(scene, directory), our_lines(ours))
        same((count_of(scene, directory), states(scene, directory)), ({0: CALLS}, {0: "finalized"}), f"calls and state, write {number} late")
    for number in LATE_WRITES:
        rules = [f"stall=2@{number}-{number}", f"write=EIO@{number + 1}-"]
        ours, _, fallback, _ = on_faulty_disk(scene, "written", rules, ["middle:pause=600", "after:pause=2500"])
        print(number, count_of(scene, fallback), states(scene, fallback), our_lines(ours))
        same((count_of(scene, fallback), states(scene, fallback)), ({0: CALLS}, {0: "finalized"}), f"calls and state elsewhere, write {number} late")
        same(len(our_lines(ours)), 1, "lines of ours")


FREEZE = """/sbin/mkfs.ext4 -q -O ^has_journal image 1024k && mount -o loop image mnt || exit 77
cd mnt; "$@" & pid=$!
sleep 1
setsid sh -c "sleep 8; /sbin/fsfreeze -u ." 2>&- &
/sbin/fsfreeze -f . || { kill -9 $pid; exit 77; }
sleep 3; /sbin/fsfreeze -u .
sleep 1; kill -9 $pid; wait $pid; cp -a . ../kept"""


@case(ranks=1, tier="full")
def disk_that_stands_still_does_not_stop_the_program(scene):
    """An ext4 that is frozen for three seconds: every write to it waits in the kernel. The program calls MPI all the time
    and is killed a second after the disk has come back. The write that waited is in the profile; after one so slow the next
    would come minutes later (docs/settings.md)."""
    place = scene.subdir("place")
    (place / "mnt").mkdir()
    env = {"MPIPROF_STORE": "written", **QUICK, "ACTS_TALLY": place / "tally"}
    argv = ["env", "LD_PRELOAD=" + scene.preload(), program(scene), 1 << 40]
    ran = scene.alone([*namespace(scene), "sh", "-c", FREEZE, "sh", *argv], profiled=False, env=env, cwd=place, timeout=60)
    if ran.code == 77:
        raise Skip(f"no disk can be frozen here: {ran.err.strip()}")
    tally = Tally(place / "tally.0")
    busy = [slot for slot, done in enumerate(tally.at) if done]
    gap = max(after - before for before, after in zip(busy, busy[1:])) / 100
    lost = tally.seconds_since(count_of(scene, place / "kept").get(0, 0))
    print(f"{busy[-1] / 100:.1f} s of calls; the longest pause between two was {gap:.2f} s; {lost:.2f} s are lost")
    check(busy[-1] > 400, f"the program made calls for {busy[-1] / 100} s only")
    check(gap < 1, f"the program stood still for {gap} s")
    check(lost < 5.5, f"{lost} s are lost")


@case(ranks=1, tier="full")
def profile_that_others_remove_or_replace_is_no_matter(scene):
    """Removed: written again at the end. Replaced: the other's file is left alone. Truncated (written store; a mapping
    must not be truncated, docs/settings.md): whole again with the next write."""
    for store in STORES:
        pair = Pair(scene, ["middle:unlink_profile", "end:pause=300"], env={"MPIPROF_STORE": store, **QUICK}).unchanged(lines=None)
        pair.counts()
        pair = Pair(scene, ["middle:replace_profile", "end:pause=300"], env={"MPIPROF_STORE": store, **QUICK}).unchanged(lines=None)
        strangers = [p for p in pair.directory.glob("mpi_profile.*") if p.read_bytes() == b"somebody else's"]
        check(strangers, f"the file that another program put there is gone, {store}")
        for path in strangers:
            path.unlink()
        print(f"replaced, {store}: {[p.name for p in scene.profiles(pair.directory)]} {our_lines(pair.ours)}")
        pair.counts()
    pair = Pair(scene, ["middle:truncate_profile", "end:pause=300"], env={"MPIPROF_STORE": "written", **QUICK}).unchanged()
    pair.counts().state("finalized")


@case(ranks=1, tier="full")
def thousands_of_earlier_profiles_are_no_obstacle(scene):
    """A directory with 20 000 files, 3 000 of them with the names that would be ours."""
    for number in range(17000):
        (scene.dir / f"mpi_profile.other.{number}").touch()
    for number in range(1, 3001):
        (scene.dir / f"mpi_profile.4711{'' if number == 1 else f'-{number}'}.0").touch()
    began = time.monotonic()
    scene.mpirun(1, [program(scene), CALLS], env={"PBS_JOBID": "4711"}).succeeded()
    print(f"took {time.monotonic() - began:.2f} s")
    profile = scene.dir / "mpi_profile.4711-3001.0"
    check(profile.exists(), "the next free name is not taken")
    same({rank: n for (rank, call), n in scene.calls(profile).items() if call == "MPI_Sendrecv"}, {0: CALLS}, "calls")


# ---- security ----

@case(ranks=1)
def profile_is_private_and_follows_no_link(scene):
    """In a directory like /tmp, where somebody else has made what would be our names: a symbolic link to a victim's file,
    a dangling one, a directory and a FIFO."""
    with OpenPlace() as place:
        os.chmod(place, 0o1777)
        victim = scene.dir / "victim"
        victim.write_text("precious")
        os.symlink(victim, place / "mpi_profile.4711.0")
        os.symlink(scene.dir / "planted", place / "mpi_profile.4711-2.0")
        (place / "mpi_profile.4711-3.0").mkdir()
        os.mkfifo(place / "mpi_profile.4711-4.0")
        os.symlink(victim, place / "mpi_profile.4711-5.0.txt")
        for store in STORES:
            env = {"PBS_JOBID": "4711", "MPIPROF_DIR": place, "MPIPROF_STORE": store}
            ran = scene.mpirun(1, [program(scene), CALLS], env=env)
            same((ran.code, our_lines(ran)), (0, []), "exit code and lines of ours")
        same(victim.read_text(), "precious", "the victim's file")
        check(not (scene.dir / "planted").exists(), "a dangling link was followed")
        for number in (5, 6):
            profile = place / f"mpi_profile.4711-{number}.0"
            same(oct(stat.S_IMODE(profile.lstat().st_mode)), "0o600", "mode of the profile")
            same({n for (_, call), n in scene.calls(profile).items() if call == "MPI_Sendrecv"}, {CALLS}, "calls")


SECRETS = ("--api-key=hunter2", "--token", "hunter3", "PASSWORD=hunter4", "--db-secret=hunter5")


@case(ranks=1)
def secrets_of_the_command_line_are_in_no_file(scene):
    for store in STORES:
        directory = scene.subdir(store)
        scene.mpirun(1, [program(scene), CALLS, *SECRETS], env={"MPIPROF_STORE": store, "MPIPROF_TEXT": "all"}, cwd=directory).succeeded()
        files = sorted(directory.glob("mpi_profile.*"))
        check(len(files) == 2, f"files: {files}")
        for path in files:
            check(b"hunter" not in path.read_bytes(), f"{path.name} has a secret of the command line")
        command = scene.run_report("export", "-f", "json", cwd=directory).succeeded().out
        check("--api-key=***" in command and "--token ***" in command, f"the command line is not told at all:\n{command[:500]}")


# ---- clocks ----

@case(ranks=1, tier="full")
def clock_that_is_set_during_the_run_changes_no_duration(scene):
    """The wall clock jumps by a day, forwards and backwards, as far as this process can see."""
    jump = scene.compile("jump.c", "-shared", "-fPIC", "-ldl", compiler="gcc", label="", name="jump.so")
    for clock in ("tsc", "mono"):
        for seconds in (86400, -86400):
            directory = scene.subdir(f"{clock}{seconds}")
            env = {"MPIPROF_CLOCK": clock, "JUMP_SECONDS": seconds}
            ran = scene.mpirun(1, [program(scene), CALLS, "middle:pause=300"], before=[jump], profiled="ranks", env=env, cwd=directory)
            same((ran.code, our_lines(ran)), (0, []), f"exit code and lines of ours\n{ran.err}")
            same(count_of(scene, directory), {0: CALLS}, "calls")
            rank = ranks_of(scene, directory)[0]
            check(0.29e9 < rank["elapsed_ns"] < 60e9, f"elapsed {rank['elapsed_ns']} ns with {clock} and a jump of {seconds} s")
            check(rank["mpi_ns"] < rank["elapsed_ns"], f"in MPI {rank['mpi_ns']} of {rank['elapsed_ns']} ns")
            same(scene.run_report(cwd=directory).code, 0, "exit code of the report")


@case(ranks=1)
def fallback_in_the_memory_of_the_node_is_the_last_and_said(scene):
    """Where the user's own directory refuses: a disk before memory, whichever is named first; and what would take much memory
    is not put there at all."""
    if any(str(path).startswith("/tmp/") for path in (scene.dir, scene.library.resolve())):
        raise Skip("what is built below /tmp cannot be seen where something else is mounted there")
    place = scene.subdir("place")
    for name in ("memory", "disk", "kept"):
        (place / name).mkdir()
    script = 'mount -t tmpfs -o size=900m none memory && mount --bind memory /tmp || exit 77; "$@"; code=$?; cp -a memory/. kept; exit $code'
    argv = ["sh", "-c", script, "sh", "env", "LD_PRELOAD=" + scene.preload(), program(scene), CALLS]
    base = {"MPIPROF_DIR": "/dev/null/there", "PBS_O_WORKDIR": place / "memory"}

    def run(env):
        ran = scene.alone([*namespace(scene), *argv], profiled=False, env={**base, **env}, cwd=place, timeout=100)
        if ran.code == 77:
            raise Skip(f"no memory can be mounted here: {ran.err.strip()}")
        same(ran.code, 0, f"exit code\n{ran.err}")
        return our_lines(ran)

    said = run({"TMPDIR": place / "disk"})
    same((len(scene.profiles(place / "disk")), len(scene.profiles(place / "kept"))), (1, 0), f"profiles on the disk and in memory; {said}")
    check(len(said) == 1 and "memory of this node" not in said[0], f"what is said of the disk: {said}")
    said = run({"TMPDIR": ""})
    same(len(scene.profiles(place / "kept")), 1, f"profiles in memory; {said}")
    check(len(said) == 1 and "in the memory of this node" in said[0], f"what is said of the memory: {said}")
    for path in scene.profiles(place / "kept"):
        check(path.stat().st_size < 2 << 20, f"{path} has {path.stat().st_size} bytes")
        path.unlink()
    said = run({"TMPDIR": "", "MPIPROF_TRACE": "400000"})
    check(all(path.stat().st_size < 1 << 20 for path in scene.profiles(place / "kept")), f"a large trace lies in memory; {said}")
    check(any("is lost" in line for line in said), f"what is said of the loss: {said}")
