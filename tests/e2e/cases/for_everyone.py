"""mpiprof for everyone on a machine: settings in files that can be trusted, short and foreign programs left alone, bounds of
what a job may leave, profiles that a group may read; and nothing of it where the user says no."""

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time
import types

from harness import ROOT, Skip, case, check, execute, same
from slurm.cluster import Cluster

def steps(scene):
    return scene.compile("lasting.c")


def files(directory):
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("mpi_profile.*"))


def settings(scene, directory):
    """Of each setting its value and where it is from."""
    ran = scene.run_report("settings", "--format", "json", directory)
    return {row["name"]: (row["value"], row["source"]) for row in json.loads(ran.succeeded().out)["settings"]}


def mounts(scene):
    """How to get mounts that nobody else sees."""
    if os.geteuid() != 0 or not shutil.which("unshare") or scene.alone(["unshare", "-m", "true"], profiled=False).code:
        raise Skip("needs root and a mount namespace")
    return ["unshare", "-m", "sh", "-c"]


def with_etc(scene, text, argv, env=None, cwd=None, profiled=True, mode="0644"):
    """Runs argv where /etc/mpiprof.conf is `text`, in mounts of its own."""
    conf = scene.dir / "etc.conf"
    conf.write_text(text)
    script = f'cp -a /etc etc_copy && cp {conf} etc_copy/mpiprof.conf && chown 0:0 etc_copy/mpiprof.conf && chmod {mode} etc_copy/mpiprof.conf && mount --bind etc_copy /etc && exec "$@"'
    before = ["env", "LD_PRELOAD=" + scene.preload()] if profiled else []
    scratch = scene.subdir("etc_" + re.sub(r"\W+", "_", str(cwd or "")))
    shutil.rmtree(scratch / "etc_copy", ignore_errors=True)
    inner = f'cd {scratch} && {script.replace("exec ", f"cd {cwd or scene.dir} && exec ")}'
    return scene.alone([*mounts(scene), inner, "sh", *before, *argv], profiled=False, env=env, cwd=cwd)


@case(ranks=2)
def a_file_of_settings_counts_where_the_environment_says_nothing(scene):
    conf = scene.dir / "my.conf"
    conf.write_text('# for tests\n  export MPIPROF_DIR = "out/%Y/%m/%d"\nMPIPROF_CLOCK=mono\r\nMPIPROF_DEPTH=2\nMPIPROF_DEPTH=4')
    conf.chmod(0o644)
    today = time.strftime("out/%Y/%m/%d", time.gmtime())
    ran = scene.mpirun(2, [scene.compile("ring.c"), 4], env={"MPIPROF_CONFIG": conf, "MPIPROF_CLOCK": "tsc"}).succeeded()
    same((ran.err, len(scene.profiles(scene.dir / today))), ("", 2), "stderr, profiles below the day's directory")
    found = settings(scene, scene.dir / today)
    same({name: found["MPIPROF_" + name] for name in ("DIR", "CLOCK", "DEPTH", "TRACE")},
         {"DIR": ("out/%Y/%m/%d", "named_file"), "CLOCK": ("tsc", "environment"), "DEPTH": ("4", "named_file"), "TRACE": ("off", "default")}, "settings")


@case(ranks=2)
def a_file_that_cannot_be_trusted_or_read_is_named_and_ignored(scene):
    ring = scene.compile("ring.c")
    fifo = scene.dir / "fifo"
    os.mkfifo(fifo)
    long = scene.dir / "long.conf"
    long.write_text("#" * 20000)
    open_to_all = scene.dir / "open.conf"
    open_to_all.write_text("MPIPROF_DIR=elsewhere\n")
    open_to_all.chmod(0o664)
    cases = {scene.dir / "none.conf": "does not exist", fifo: "is not a file", long: "is longer than 16 KiB",
             open_to_all: "can be written by others"}
    if os.geteuid() == 0:
        foreign = scene.dir / "foreign.conf"
        foreign.write_text("MPIPROF_DIR=elsewhere\n")
        os.chown(foreign, 12345, 12345)
        cases[foreign] = "is neither root's nor yours"
    for number, (path, why) in enumerate(cases.items()):
        place = scene.subdir(str(number))
        ran = scene.mpirun(2, [ring, 4], env={"MPIPROF_CONFIG": path}, cwd=place).succeeded()
        same(ran.err, f"mpiprof: {path} {why}" + (" (chmod go-w)" if "written" in why else "") + ": its settings are ignored\n", "stderr")
        same(len(scene.profiles(place)), 2, f"profiles in the working directory with {path}")


@case(ranks=2)
def a_file_cannot_make_ranks_communicate_or_load_code(scene):
    conf = scene.dir / "my.conf"
    lines = {"COLLECTIVE_BARRIER": "all", "CLOCK_OFFSETS": "on", "NCCL_PLUGIN": "/tmp/evil.so", "COMPAT": "mpitrace", "CONFIG": "/other"}
    conf.write_text("".join(f"MPIPROF_{name}={value}\n" for name, value in lines.items()) + "MPIPROF_NONE=1\njust words\nMPIPROF_CLOCK=sundial\n")
    ran = scene.mpirun(2, [scene.compile("ring.c"), 4], env={"MPIPROF_CONFIG": conf}).succeeded()
    said = ran.err.splitlines()
    for name in lines:
        check(f"mpiprof: {conf}: MPIPROF_{name} counts in the environment alone and is ignored here" in said, f"{name}: {said}")
    for line in ("unknown setting MPIPROF_NONE is ignored; docs/settings.md lists them", "unknown setting just words is ignored; docs/settings.md lists them",
                 "MPIPROF_CLOCK=sundial is not understood (auto tsc mono); using auto"):
        check(f"mpiprof: {conf}: {line}" in said, f"{line}: {said}")
    same(len(said), len(lines) + 3, f"lines: {said}")
    same({found[1] for name, found in settings(scene, scene.dir).items() if name[8:] in lines and name != "MPIPROF_CONFIG"}, {"default"}, "their sources")


@case(ranks=2)
def etc_mpiprof_conf_is_for_everyone_and_the_user_has_the_last_word(scene):
    ring = [*scene.launcher(2), scene.compile("ring.c"), "4"]
    text = "MPIPROF_DIR=theirs\nMPIPROF_DEPTH=3\nMPIPROF_FOO=1\n"
    for name, env, profiles, source, lines in (
            ("plain", {}, "theirs", "file_for_all", 0), ("verbose", {"MPIPROF_VERBOSE": 1}, "theirs", "file_for_all", 1),
            ("mine", {"MPIPROF_DIR": "mine"}, "mine", "environment", 0), ("none", {"MPIPROF_CONFIG": "none"}, ".", "default", 0)):
        place = scene.subdir(name)
        ran = with_etc(scene, text, ring, env=env, cwd=place).succeeded()
        same(len([line for line in ran.err.splitlines() if "FOO" in line]), lines, f"what is said of a wrong line with {env}: {ran.err}")
        same((len(scene.profiles(place / profiles)), settings(scene, place / profiles)["MPIPROF_DIR"][1]), (2, source), f"with {env}")
    place = scene.subdir("off")
    with_etc(scene, text, ring, env={"MPIPROF_DISABLE": 1}, cwd=place).succeeded()
    same(files(place), [], "files of who switched it off")
    place = scene.subdir("writable")
    with_etc(scene, text, ring, cwd=place, mode="0666").succeeded()
    same(len(scene.profiles(place)), 2, "profiles where everyone can write to /etc/mpiprof.conf")


@case(ranks=2)
def short_processes_leave_no_file_and_get_no_thread(scene):
    program = steps(scene)
    for name, seconds, ends, profiles in (("short", 0.2, (), 0), ("long", 1.4, (), 2), ("aborted", 0.2, ("abort",), 0)):
        place = scene.subdir(name)
        ran = scene.mpirun(2, [program, seconds, *ends], env={"MPIPROF_MIN_TIME": "1", "MPIPROF_TEXT": "none"}, cwd=place)
        without = scene.mpirun(2, [program, seconds, *ends], profiled=None, cwd=place)
        same(ran.code, without.code, f"exit code of the {name} one")
        there, threads = map(int, ran.out.split()[:2])
        same(there, profiles, f"profiles of the {name} one while it ran")
        if not profiles: same(threads, int(without.out.split()[1]), "its threads, with and without mpiprof")
        same(len(files(place)), profiles, f"files of the {name} one")
    found = {call: n for (rank, call), n in scene.calls(cwd=scene.dir / "long").items() if rank == 0}
    check(found["MPI_Allreduce"] == found["MPI_Bcast"] > 20, f"calls from the beginning on: {found}")
    same(scene.run_report("check", cwd=scene.dir / "long").code, 0, "mpiprof-report check")


@case(ranks=2)
def a_process_that_is_killed_later_than_that_leaves_its_profile(scene):
    ran = scene.mpirun(2, [steps(scene), 1.5, "kill"], env={"MPIPROF_MIN_TIME": "0.5", "MPIPROF_PERIOD": "0.1"})
    check(ran.code != 0, "it was killed")
    same(len(scene.profiles()), 2, "profiles")
    found = {call: n for (rank, call), n in scene.calls().items() if rank == 1}
    check(found["MPI_Allreduce"] > 20, f"calls: {found}")


@case(ranks=2)
def excluded_programs_and_jobs_outside_the_sample_leave_nothing(scene):
    ring = scene.compile("ring.c", name="my_ring")
    for number, (setting, value, profiles) in enumerate((("EXCLUDE", "gdb,my_*", 0), ("EXCLUDE", "my,ring", 2), ("EXCLUDE", "*ring*", 0),
                                                         ("SAMPLE", "0", 0), ("SAMPLE", "1", 2))):
        place = scene.subdir(str(number))
        ran = scene.mpirun(2, [ring, 4], env={"MPIPROF_" + setting: value}, cwd=place).succeeded()
        same((ran.err, len(scene.profiles(place))), ("", profiles), f"stderr, profiles with MPIPROF_{setting}={value}")
    drawn = 0
    for job in range(40):
        place = scene.subdir(f"job{job}")
        scene.mpirun(2, [ring, 4], env={"MPIPROF_SAMPLE": "0.5", "SLURM_JOB_ID": 4700 + job, "MPIPROF_TEXT": "none"}, cwd=place).succeeded()
        check(len(files(place)) in (0, 2), f"all ranks of a job or none: {files(place)}")
        drawn += len(files(place)) == 2
    check(10 <= drawn <= 30, f"of 40 jobs {drawn} were drawn for a share of one half")


@case(ranks=4)
def a_job_leaves_no_more_files_than_it_may(scene):
    ring = scene.compile("ring.c")
    env = {"MPIPROF_MAX_FILES": 5, "PBS_JOBID": "4711", "MPIPROF_TEXT": "none"}
    for launch in (["mpi_profile.4711.0", "mpi_profile.4711.1", "mpi_profile.4711.2", "mpi_profile.4711.3"], []):
        before = files(scene.dir)
        same(scene.mpirun(4, [ring, 4], env=env).succeeded().err, "", "stderr")
        same(sorted(set(files(scene.dir)) - set(before)), launch, "files of one more launch")
    place = scene.subdir("some")
    scene.mpirun(4, [ring, 4], env={**env, "MPIPROF_MAX_FILES": 2}, cwd=place).succeeded()
    same(files(place), ["mpi_profile.4711.0", "mpi_profile.4711.2"], "ranks that have one")
    ran = scene.run_report("check", cwd=place)
    check(ran.code == 0 and "MPIPROF_MAX_FILES=2: not every rank was profiled" in ran.out, f"{ran.code}: {ran.out}{ran.err}")


@case(ranks=2)
def a_job_leaves_no_more_bytes_than_it_may(scene):
    env = {"MPIPROF_MAX_BYTES": "3M", "PBS_JOBID": "4711", "MPIPROF_TEXT": "none", "MPIPROF_TRACE": "1M"}
    for _ in range(4):
        scene.mpirun(2, [scene.compile("ring.c"), 40], env=env).succeeded()
        size = sum(path.stat().st_size for path in scene.dir.glob("mpi_profile.*"))
        check(0 < size <= 3_000_000, f"{size} bytes in {files(scene.dir)}")
    same({n for (_, call), n in scene.calls("--launch", "1").items() if call == "MPI_Sendrecv"}, {40}, "calls of the first launch")


@case(ranks=2)
def a_directory_that_refuses_is_no_ones_business_where_nobody_asked(scene):
    ring, place = scene.compile("ring.c"), scene.subdir("fallback")
    env = {"MPIPROF_DIR": "/proc/none", "TMPDIR": place}
    ran = scene.mpirun(2, [ring, 4], env={**env, "MPIPROF_FALLBACK": "none"}).succeeded()
    check(len(ran.err.splitlines()) >= 1 and "/proc/none" in ran.err, f"stderr: {ran.err}")
    same((files(place), files(scene.dir)), ([], []), "files with FALLBACK=none")
    ran = scene.mpirun(2, [ring, 4], env={**env, "MPIPROF_FALLBACK": "none", "MPIPROF_QUIET": 1}).succeeded()
    same((ran.err, files(place)), ("", []), "stderr and files with QUIET=1")
    scene.mpirun(2, [ring, 4], env={**env, "MPIPROF_QUIET": 1}).succeeded()
    text = "".join(scene.run_report("check", place).out.split())
    check("/proc/none" in text, f"the profile does not say what stderr does not: {text}")


@case(ranks=2)
def the_group_of_roots_directory_may_read_what_lies_below(scene):
    if os.geteuid() != 0: raise Skip("needs root")
    ring = scene.compile("ring.c")
    for name, mode, makes, files_mode, says in (("shared", 0o2755, 0o2750, 0o640, False), ("own", 0o755, 0o700, 0o600, True)):
        top = scene.subdir(name)
        os.chown(top, 0, 4242)
        top.chmod(mode)
        ran = scene.mpirun(2, [ring, 4], env={"MPIPROF_GROUP": 1, "MPIPROF_DIR": top / "me" / "today"}).succeeded()
        same("hands its group on" in ran.err, says, f"what is said of it: {ran.err}")
        made = top / "me" / "today"
        same({oct(p.stat().st_mode & 0o7777) for p in (top / "me", made)}, {oct(makes)}, f"modes of the directories below {name}")
        same({oct(p.stat().st_mode & 0o7777) for p in scene.profiles(made)}, {oct(files_mode)}, f"modes of profiles below {name}")
        same({p.stat().st_gid for p in scene.profiles(made)}, {4242 if name == "shared" else os.getegid()}, "group")


@case(ranks=2)
def a_private_profile_keeps_arguments_directory_and_environment_out(scene):
    secrets = ("PLAIN_ARGUMENT", "PLAIN_VALUE", str(scene.dir))
    for name, private in (("open", 0), ("private", 1)):
        place = scene.subdir(name)
        scene.mpirun(2, [scene.compile("ring.c"), 4, "PLAIN_ARGUMENT"], cwd=place,
                     env={"MPIPROF_PRIVATE": private, "HOROVOD_TIMELINE": "PLAIN_VALUE", "MPIPROF_DIR": "."})
        data = b"".join(path.read_bytes() for path in scene.profiles(place))
        check(data, "there are profiles")
        same({word: word.encode() in data for word in secrets[:2]}, {word: not private for word in secrets[:2]}, f"words in the {name} profile")
        same(str(place).encode() in data, not private, f"the working directory in the {name} profile")


@case(ranks=2)
def mpiprof_run_profiles_whatever_is_set_for_everyone(scene):
    mpiprof = scene.report.parent.parent / "launcher" / "mpiprof"
    text = "MPIPROF_MIN_TIME=3600\nMPIPROF_SAMPLE=0\nMPIPROF_DISABLE=1\n"
    place = scene.subdir("run")
    with_etc(scene, text, [mpiprof, "run", "--", *scene.launcher(2), scene.compile("ring.c"), "4"], cwd=place, profiled=False).succeeded()
    same(len([path for path in files(place) if not path.endswith(".txt")]), 2, "profiles")


@case(mpis=(), ranks=1)
def doctor_says_what_files_of_settings_leave_out(scene):
    conf = scene.dir / "my.conf"
    conf.write_text("MPIPROF_MIN_TIME=60\nMPIPROF_EXCLUDE=gdb\n")
    conf.chmod(0o644)
    program = shutil.which("true")
    text = scene.run_report("doctor", program, "--width", "400", env={"MPIPROF_CONFIG": conf}).out
    check(f". {conf} counts where the environment says nothing: MPIPROF_MIN_TIME=60, MPIPROF_EXCLUDE=gdb" in text, text)
    check(". processes that run for less than 60 s leave no profile (MPIPROF_MIN_TIME)" in text, text)
    check(". programs named gdb are not profiled (MPIPROF_EXCLUDE)" in text, text)
    ran = scene.run_report("doctor", program, "--width", "400", env={"MPIPROF_CONFIG": conf, "MPIPROF_DISABLE": "1", "MPIPROF_MIN_TIME": "7"})
    check(ran.code == 1 and "x profiling is switched off (MPIPROF_DISABLE)" in ran.out and "less than 7 s" in ran.out, ran.out)
    there = scene.subdir("there/today")
    (there / "mpi_profile.1.0").write_text("")
    conf.write_text(f"MPIPROF_DIR={there.parent}/%j\nMPIPROF_FALLBACK=none\n")
    empty = scene.subdir("empty")
    for command, code in ((["doctor"], 0), (["--brief"], 0), ([], 3)):
        ran = scene.run_report(*command, env={"MPIPROF_CONFIG": conf}, cwd=empty)
        shown = "".join((ran.out + ran.err).split())
        check(ran.code == code and ("noprofilehere,butin" if command == ["--brief"] else str(there)) in shown, f"{command}: {ran.code} {ran.out}{ran.err}")
    conf.write_text("MPIPROF_EXCLUDE=gdb\n")
    conf.chmod(0o666)
    text = scene.run_report("doctor", program, "--width", "400", env={"MPIPROF_CONFIG": conf}).out
    check(f"! {conf} can be written by others (chmod go-w): its settings are ignored" in text, text)
    text = scene.run_report("doctor", program, "--width", "400", env={"MPIPROF_CONFIG": scene.dir / "none"}).out
    check("/none does not exist (MPIPROF_CONFIG)" in text, text)
    text = scene.run_report("doctor", program, "--width", "400", env={"MPIPROF_CONFIG": "none"}).out
    check("MPIPROF_CONFIG=none: no file of settings counts" in text, text)


def shipped(directory, **changes):
    """The configuration that is shipped, with this directory for profiles."""
    text = (ROOT / "examples" / "site" / "mpiprof.conf").read_text().replace("/scratch/mpiprof", str(directory))
    for name, value in changes.items():
        text, found = re.subn(rf"^MPIPROF_{name}=.*$", f"MPIPROF_{name}={value}", text, flags=re.M)
        same(found, 1, f"lines of {name} in examples/site/mpiprof.conf")
    return text


@case(ranks=2)
def with_the_shipped_configuration_commands_builds_and_jobs_are_as_without(scene):
    """A shell that runs many commands, a build, a job whose disk has room for one more file, and a long job that is profiled."""
    top = scene.subdir("profiles")
    os.chown(top, 0, 4242)
    top.chmod(0o3777)
    text = shipped(top)
    many = 'i=0; while [ $i -lt 500 ]; do /bin/echo $i; ls -d / ; i=$((i+1)); done; cat nothing; test 1 -gt 2'
    source = scene.dir / "one.c"
    source.write_text("#include <stdio.h>\nint main(void) { puts(\"built\"); return 0; }\n")
    build = f"cc -O1 -o one {source} && ./one && make -n --version | head -1"
    ring = " ".join(map(str, [*scene.launcher(2), scene.compile("ring.c"), 4]))
    quota = f"mkdir small && mount -t tmpfs -o nr_inodes=3 none small && cd small && touch a && {ring} && touch b && ls"
    for name, script in (("commands", many), ("build", build), ("quota", quota)):
        both = []
        for profiled in (False, True):
            place = scene.subdir(f"{name}_{profiled}")
            ran = with_etc(scene, text, ["sh", "-c", script], env={"MPIPROF_SAMPLE": 1, "USER": "me"}, cwd=place, profiled=profiled)
            both.append((ran.code, ran.out, ran.err))
        same(both[1], both[0], f"code, stdout and stderr of {name}")
    same(files(top), [], "files of short ones")
    place = scene.subdir("long")
    ran = with_etc(scene, shipped(top, MIN_TIME="0.5", SAMPLE="1"), [*scene.launcher(2), steps(scene), "1.2"], env={"USER": "me"}, cwd=place)
    same((ran.code, ran.err), (0, ""), "code and stderr of the long one")
    found = files(top)
    check(len(found) == 2 and all(path.startswith("me/20") for path in found), f"files of the long one: {found}")
    same({oct((top / path).stat().st_mode & 0o777) for path in found}, {"0o640"}, "their modes")


def site(scene, top):
    """Our library, reporter and scripts where every user can read them, and the settings and directory of a centre."""
    for path in (scene.library, scene.report, *(ROOT / "examples" / "site").iterdir()): shutil.copy(path, top)
    profiles = top / "profiles"
    profiles.mkdir()
    os.chown(profiles, 0, 4242)
    profiles.chmod(0o3777)
    (top / "mpiprof.conf").write_text(shipped(profiles, MIN_TIME="1.5", SAMPLE="1"))
    scripts = {"task_prolog": f"MPIPROF_LIBRARY={top}/libmpiprof.so {top}/task_prolog\necho export MPIPROF_CONFIG={top}/mpiprof.conf",
               "epilog": f"MPIPROF_REPORT={top}/mpiprof-report MPIPROF_PROFILES={profiles} MPIPROF_LOG={top}/log exec {top}/epilog"}
    for name, text in scripts.items():
        (top / f"here_{name}").write_text(f"#!/bin/sh\n{text}\n")
        (top / f"here_{name}").chmod(0o755)
    return profiles


@case(mpis=("mpich",), ranks=2, tier="full")
def a_centre_has_slurm_preload_it_and_collect_a_line_about_each_job(scene):
    top = pathlib.Path(tempfile.mkdtemp(prefix="mpiprof-site-", dir="/tmp"))
    try:
        top.chmod(0o755)
        profiles = site(scene, top)
        program = shutil.copy(steps(scene), top)
        with Cluster(pbs=False, more=f"TaskProlog={top}/here_task_prolog\nEpilog={top}/here_epilog\n") as cluster:
            jobs = {}
            for name, line in (("srun", f"srun --mpi=pmi2 -n 4 -N 2 {program} 3"), ("mpirun", f"{scene.tool('mpirun.mpich')} -launcher fork -n 2 {program} 3"),
                               ("off", f"export MPIPROF_DISABLE=1; srun --mpi=pmi2 -n 4 {program} 1.5"), ("short", f"srun --mpi=pmi2 -n 4 {program} 0.1"),
                               ("canary", f"export MPIPROF_MIN_TIME=0 MPIPROF_SAMPLE=1; srun --mpi=pmi2 -n 4 {program} 0.1")):
                place = top / name
                place.mkdir(mode=0o777)
                place.chmod(0o777)
                (place / "job.sh").write_text(f"#!/bin/bash\n{line}\n")
                jobs[name] = cluster.submit("sbatch", "--uid=nobody", "-N2", "-n4", f"--chdir={place}", "--output=out", place / "job.sh", cwd=place)
                output = (place / "out").read_text()
                check("mpiprof" not in output and re.fullmatch(r"(\d+\n){2}", output), f"output of {name}: {output}")
                same(sorted(path.name for path in place.iterdir()), ["job.sh", "out"], f"files in the directory of {name}")
            cluster.wait_until(lambda: len(lines_of(top / "log")) >= 3, "lines of the epilog")
        found = {entry["job"]: entry["ranks"] for entry in map(json.loads, lines_of(top / "log"))}
        same(found, {jobs["srun"]: 4, jobs["mpirun"]: 2, jobs["canary"]: 4}, "jobs and ranks in the log")
        same({(path.owner(), oct(path.stat().st_mode & 0o777)) for path in profiles.rglob("mpi_profile.*")}, {("nobody", "0o640")}, "owners and modes")
    finally:
        shutil.rmtree(top, ignore_errors=True)


def lines_of(path):
    return path.read_text().splitlines() if path.exists() else []


@case(mpis=(), ranks=1)
def the_prolog_preloads_but_for_who_has_switched_it_off(scene):
    prolog = ROOT / "examples" / "site" / "task_prolog"
    home = scene.subdir("home")

    def printed(**env):
        ran = execute([prolog], cwd=scene.dir, env={"PATH": os.environ["PATH"], "HOME": str(home), "MPIPROF_LIBRARY": str(scene.library), **env})
        same((ran.code, ran.err), (0, ""), f"exit code and stderr with {env}")
        return ran.out
    same(printed(), f"export LD_PRELOAD={scene.library}\n", "as it is")
    same(printed(LD_PRELOAD="libm.so.6"), f"export LD_PRELOAD={scene.library}:libm.so.6\n", "before the user's own")
    same(printed(LD_PRELOAD=str(scene.library)), "", "where it is already")
    same(printed(MPIPROF_DISABLE="1"), "", "switched off for this job")
    if not os.path.exists("/opt/mpiprof"): same(printed(MPIPROF_LIBRARY="/none/libmpiprof.so"), "", "a node without it")
    (home / ".mpiprof-off").write_text("")
    same(printed(), "", "switched off for all jobs")


@case(mpis=(), ranks=1)
def the_hook_of_pbs_preloads_and_never_rejects_a_job(scene):
    """With a stand-in for PBS's module, which has of it what the hook's documentation names: event(), env, logmsg, accept()."""
    hook = (ROOT / "examples" / "site" / "pbs_launch.py").read_text().replace("/opt/mpiprof/lib/libmpiprof.so", str(scene.library))
    ours = str(scene.library)
    for before, after in (({}, ours), ({"LD_PRELOAD": "/x.so"}, ours + ":/x.so"), ({"LD_PRELOAD": ours}, ours),
                          ({"MPIPROF_DISABLE": "1"}, None), (None, None)):
        event = types.SimpleNamespace(env=before and dict(before) if before != {} else {}, accepted=0)
        event.accept = lambda event=event: setattr(event, "accepted", event.accepted + 1)
        pbs = types.SimpleNamespace(event=lambda: event, LOG_DEBUG=1, logmsg=lambda level, text: None)
        sys.modules["pbs"] = pbs
        try:
            exec(compile(hook, "pbs_launch.py", "exec"), {})
        finally:
            del sys.modules["pbs"]
        same((event.accepted, (event.env or {}).get("LD_PRELOAD")), (1, after), f"after a launch with {before}")
