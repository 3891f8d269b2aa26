"""mpiprof run: a command under the profiler, in either order with its launcher, and otherwise as without it."""

import os
import re
import shlex
import signal
import subprocess
import time

from harness import Skip, case, check, execute, same
from slurm.cluster import Cluster


def mpiprof(scene):
    return scene.report.parent.parent / "launcher" / "mpiprof"


def run(scene, *words, env=None, cwd=None, **more):
    return execute([mpiprof(scene), "run", *words], cwd=cwd or scene.dir, env=scene.environment(env), **more)


def profiles_of_job(scene, directory=None):
    """Those in the one directory that the job made, which nobody else may look into."""
    made = [path for path in (directory or scene.dir).glob("mpiprof.*") if path.is_dir()]
    same(len(made), 1, f"directories of jobs: {made}")
    same(oct(made[0].stat().st_mode & 0o777), "0o700", "its mode")
    same(scene.profiles(directory), [], "profiles beside it")
    return scene.profiles(made[0])


def program(scene):
    """Prints its arguments and what it reads, by rank 0, and ends with its first argument as the exit code."""
    source = scene.dir / "says.c"
    source.write_text(r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {
    int rank, sum, in;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        for (int i = 2; i < argc; ++i) printf("<%s>", argv[i]);
        while ((in = getchar()) != EOF) putchar(in);
        fprintf(stderr, "says\n");
    }
    if (getenv("SAYS_AND_STAYS")) sleep(1);
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
""")
    return scene.compile(source, name=f"says.{scene.mpi}", label="")


@case(ranks=2)
def run_profiles_a_job_in_either_order_with_its_launcher(scene):
    says, words = program(scene), ["0", "a  b", "$HOME", "ä", "*"]
    (scene.dir / "typed").write_text("typed\n")

    def typed():
        return (scene.dir / "typed").open("rb")
    plain = execute([*scene.launcher(2), says, *words], cwd=scene.dir, env=scene.environment({}), stdin=typed())
    same((plain.code, plain.out, scene.profiles()), (0, "<a  b><$HOME><ä><*>typed\n", []), "without it")
    for order, command in (("outer", ["--", *scene.launcher(2), says]), ("env", ["--", "env", "A=b", *scene.launcher(2), says])):
        directory = scene.subdir(order)
        ran = run(scene, *command, *words, cwd=directory, stdin=typed())
        same((ran.code, ran.out), (0, plain.out), order)
        same(len(profiles_of_job(scene, directory)), 2, f"profiles of {order}: {ran.err}")
        check("profile complete: 2 of 2 ranks" in scene.run_report(cwd=directory).succeeded().out, "they are found from where the job ran")
        check("says\n" in ran.err and "profile complete: 2 of 2 ranks" in ran.err, ran.err)
    directory = scene.subdir("inner")
    ran = execute([*scene.launcher(2), mpiprof(scene), "run", "--", says, *words], cwd=directory, env=scene.environment({}), stdin=typed())
    same((ran.code, ran.out, len(profiles_of_job(scene, directory))), (0, plain.out, 2), f"inner: {ran.err}")
    check("mpiprof" not in ran.err, ran.err)


# What shells, launchers and careless quoting take apart.
ODD = ["a  b", "$HOME", "ä€", "*", '"', "'", "`id`", "\\", "", "--", "-n", ";exit 9", "${X}", "a=b", "tab\there", "~"]


@case(ranks=2)
def run_changes_nothing_through_scripts_env_nohup_and_odd_words(scene):
    """In either order: output, exit code and stderr of the command are as without it, and there are profiles where the
    environment reaches the ranks."""
    place = scene.subdir("ein Ort ü $x")
    says = place / "ein Programm 'é'"
    says.write_bytes(program(scene).read_bytes())
    says.chmod(0o755)
    script = place / "start it.sh"
    script.write_text('#!/bin/sh\n# A job script.\n"$@"\ncode=$?\nexit $code\n')
    script.chmod(0o755)
    keep = [f"{name}={value}" for name, value in scene.environment({}).items() if name == "PATH" or name.startswith("OMPI_MCA") or "ROOT" in name]
    run_it = [mpiprof(scene), "run", "--quiet", "--"]
    launcher = scene.launcher(2)
    outer = {"itself": [], "a script": [script], "two scripts": [script, script], "nohup": ["nohup"], "sh -c": ["sh", "-c", '"$@"', "sh"],
             "env": ["env", "-u", "NOTHING", "A=b c"], "nice": ["nice", "-n", "1"], "timeout": ["timeout", "100"]}
    cases = [(name, [*before, *launcher, says], [*run_it, *before, *launcher, says], True) for name, before in outer.items()]
    cases.append(("env -i before it", ["env", "-i", *keep, *launcher, says], ["env", "-i", *keep, *run_it, *launcher, says], True))
    cases.append(("env -i behind it", ["env", "-i", *keep, *launcher, says], [*run_it, "env", "-i", *keep, *launcher, says], None))
    for name, before in {"itself": [], "a script": [script], "nohup": ["nohup"]}.items():
        cases.append((f"inside, {name}", [*launcher, *before, says], [*launcher, *run_it, *before, says], True))
    for number, (name, plain, profiled, reaches) in enumerate(cases):
        for code in ("0", "3"):
            words = [code, *ODD]
            without, directory = scene.subdir(f"{number}.{code} plain"), scene.subdir(f"{number}.{code} ö")
            expected = execute([*plain, *words], cwd=without, env=scene.environment({}))
            ran = execute([*profiled, *words], cwd=directory, env=scene.environment({}))
            same(ran.code, expected.code, f"exit code of {name}\n{ran.err}")
            # At the first rank with another code Open MPI kills the others and drops what it has not yet passed on.
            if code == "0":
                same(ran.out, expected.out, f"{name}\n{ran.err}")
                if not name.startswith("inside"): same(ran.err, expected.err, f"stderr of {name}")
                # Below Open MPI standard output is a terminal, for which nohup has nohup.out.
                shown = ran.out or (directory / "nohup.out").read_text()
                check("<ä€><*>" in shown, f"{name}: {shown}")
            if reaches: same(len(profiles_of_job(scene, directory)), 2, f"profiles, {name}: {ran.err}")


def loser(scene, name, text):
    script = scene.dir / name
    script.write_text("#!/bin/sh\n" + text)
    script.chmod(0o755)
    return script


@case(ranks=2)
def program_runs_and_the_link_that_loses_the_preload_is_named(scene):
    """In front of the ranks, in front of their launcher, by a wrapper of the user's, and where nothing loses it."""
    says = program(scene)
    launcher = scene.launcher(2)
    losers = {
        "loses.sh": ('unset LD_PRELOAD\nexec "$@"\n', "loses.sh lost it (line 2: unset LD_PRELOAD)"),
        "waits.sh": ('# A comment: env -i\nLD_PRELOAD=$LD_PRELOAD:libm.so.6 sleep 0.5\nLD_PRELOAD=libm.so.6 "$@"\n', 'waits.sh lost it (line 4: LD_PRELOAD=libm.so.6 "$@")'),
        "by env.sh": ('exec env -u LD_PRELOAD "$@"\n', 'by env.sh lost it (line 2: exec env -u LD_PRELOAD "$@")'),
    }
    for name, (text, said) in losers.items():
        script = loser(scene, name, text)
        for number, command in enumerate(([*launcher, script, says], [script, *launcher, says])):
            where = scene.subdir(f"{name}.{number}")
            plain = execute([*command, "0", "a b"], cwd=where, env=scene.environment({})).succeeded()
            check("<a b>" in plain.out, plain.out)
            ran = run(scene, "--", *command, "0", "a b", cwd=where, env={"SAYS_AND_STAYS": "1"} if name == "waits.sh" else None)
            same((ran.code, ran.out), (0, plain.out), f"{name}: {ran.err}")
            last = ran.err.strip().splitlines()[-1]
            # A script may be over before anybody looked at it, and a rank of MPICH, too.
            seen, suspect = f"did not reach {says.name}: {said}", said.replace("lost it", "may have lost it")
            texts = (seen, f"did not reach {says.name}: {suspect}", f"may not have reached its ranks: {suspect}")
            check(last.removeprefix("mpiprof: no profile of this run in .: the preload ") in texts, f"{command}: {ran.err}")
            if name == "waits.sh": check(seen in last, f"a script and a rank that stay are seen: {ran.err}")
    inner = loser(scene, "inner.sh", f'unset LD_PRELOAD\nexec {says} 0\n')
    outer = loser(scene, "outer.sh", f"sleep 1\n{' '.join(launcher)} ./inner.sh\n")
    ran = run(scene, "--", outer)
    check(re.search(r"inner.sh (may have )?lost it \(line 2: unset LD_PRELOAD\)", ran.err), ran.err)
    sleeps = loser(scene, "sleeps.sh", 'sleep 1\nexec "$@"\n')
    ran = run(scene, "--", *launcher, "env", "-u", "LD_PRELOAD", sleeps, says, "0")
    lost = [f"did not reach {says.name}: it was lost between {last} and {says.name}" for last in (launcher[0].split("/")[-1], "env")]
    said = (*lost, "none called MPI or NCCL. mpiprof doctor")  # env is seen if the machine is slow
    check(any(text in ran.err for text in said), ran.err)
    ran = run(scene, "--", *launcher, says, "0", env={"MPIPROF_DISABLE": "1"})
    check(f"the preload reached {says.name}, which" in ran.err, ran.err)


@case(ranks=1)
def setuid_programs_and_sudo_are_as_without_it_and_doctor_says_so(scene):
    """The loader preloads nothing into them: as a user who is not root, the program runs and no profile is written."""
    if os.getuid() != 0: raise Skip("a setuid program is made by root")
    nobody = [scene.tool("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups"]
    if any((parent.stat().st_mode & 0o5) != 0o5 for parent in scene.dir.parents): raise Skip("others cannot look into this directory")
    place = scene.subdir("open")
    place.chmod(0o777)
    says = place / "setuid"
    says.write_bytes(program(scene).read_bytes())
    says.chmod(0o4755)
    env = scene.environment({"HOME": place, "TMPDIR": place, "USER": "nobody"})
    plain = execute([*nobody, says, "3", "a  b"], cwd=place, env=env)
    ran = execute([*nobody, mpiprof(scene), "run", "--", says, "3", "a  b"], cwd=place, env=env)
    same((ran.code, ran.out), (plain.code, plain.out), f"setuid\n{plain.err}{ran.err}")
    same((ran.code, list(place.rglob("mpi_profile.*"))), (3, []), "profiles of a setuid program")
    check("mpiprof: no profile of this run" in ran.err, ran.err)
    told = scene.run_report("doctor", says, "--width", "200")
    check(told.code == 1 and "setuid or setgid" in told.out, told.out)
    sudo = scene.tool("sudo")
    own = execute([sudo, "-n", "--", program(scene), "3"], cwd=place, env=env)
    ran = execute([mpiprof(scene), "run", "--", sudo, "-n", "--", program(scene), "3"], cwd=place, env=env)
    same((ran.code, ran.out), (own.code, own.out), f"below sudo\n{own.err}{ran.err}")
    check(scene.run_report("doctor", sudo, "--width", "200").code == 1, "doctor of sudo")


@case(ranks=1)
def demo_shows_recorded_jobs_without_an_mpi(scene):
    demo = lambda *words: execute([mpiprof(scene), "demo", *words], cwd=scene.dir, env=scene.environment({}))
    listed = demo().succeeded().out
    for name, rule, place in (("slow-rank", "slow-rank", "slow-rank.py:16 residual"), ("deadlock", "hang", "deadlock.py:17"),
                              ("small-messages", "small-messages", "small-messages.py:15 exchange"), ("healthy", "healthy", "")):
        check(f"  {name} " in listed, listed)
        said = demo(name).succeeded().out
        check(f"[{rule}]" in said.split("\n\n")[0] and place in " ".join(said.split()), said)
    check("MPI_Barrier" in demo("deadlock", "hang").succeeded().out, "hang of the recorded deadlock")
    ran = demo("no-such")
    same((ran.code, ran.err), (2, "mpiprof: no recorded job is called no-such: mpiprof demo lists them\n"), "a job that is not there")


@case(ranks=2)
def run_has_the_exit_code_of_its_command(scene):
    says = program(scene)
    same(run(scene, "--quiet", "--", *scene.launcher(2), says, "3").code, 3, "of the job")
    for code in (0, 7): same(run(scene, "--", "sh", "-c", f"exit {code}").code, code, "of a script")
    ran = run(scene, "--", "no-such-program")
    same((ran.code, ran.err), (127, "mpiprof: cannot run no-such-program: No such file or directory\n"), "nothing to run")
    ran = run(scene, "--", scene.dir / "says.c")
    same((ran.code, "Permission denied" in ran.err), (126, True), "no program")
    ran = run(scene)
    same((ran.code, "required" in ran.err), (2, True), ran.err)


@case(ranks=2)
def run_reaches_all_programs_of_a_job_of_several(scene):
    says = program(scene)
    scene.needs_two_programs()
    ran = run(scene, "--", *scene.launcher(1), says, "0", "one", ":", "-n", "1", says, "0", "two")
    same((ran.code, len(profiles_of_job(scene))), (0, 2), ran.err)


@case(mpis=(), ranks=1)
def signals_reach_the_command_and_its_end_is_seen(scene):
    def start(*command):
        return subprocess.Popen([mpiprof(scene), "run", "--quiet", "--", *command], cwd=scene.dir, env=scene.environment({}),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for name in ("TERM", "INT", "HUP", "USR1"):
        ready = "trap 'echo caught; exit 5' %s; echo ready; while :; do sleep 0.05; done" % name
        process = start("sh", "-c", ready)
        same(process.stdout.readline(), "ready\n", name)
        process.send_signal(getattr(signal, "SIG" + name))
        out, err = process.communicate(timeout=20)
        same((process.returncode, out, err), (5, "caught\n", ""), name)
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV):
        process = start("sh", "-c", f"kill -{int(number)} $$")
        process.communicate(timeout=20)
        same(process.returncode, -int(number), "ended by a signal, for who waits")
    process = start("sleep", "60")
    time.sleep(0.3)
    process.terminate()
    process.communicate(timeout=20)
    same(process.returncode, -int(signal.SIGTERM), "a command without a handler")


# What launchers say of themselves, and how the command is spelled for them.
LAUNCHERS = [
    ("mpirun", "mpirun (Open MPI) 4.1.4", "{dir}/mpirun -x LD_PRELOAD={lib} -x MPIPROF_DIR=mpiprof.%j -x MPIPROF_CONFIG=none -n 2 ./app"),
    ("mpiexec", "mpiexec (OpenRTE) 4.0", "{dir}/mpiexec -x LD_PRELOAD={lib} -x MPIPROF_DIR=mpiprof.%j -x MPIPROF_CONFIG=none -n 2 ./app"),
    ("prterun", "prterun (PRRTE) 3.0", "{dir}/prterun -x LD_PRELOAD={lib} -x MPIPROF_DIR=mpiprof.%j -x MPIPROF_CONFIG=none -n 2 ./app"),
    ("mpiexec.hydra", "HYDRA build details:", "{dir}/mpiexec.hydra -genv LD_PRELOAD {lib} -genv MPIPROF_DIR mpiprof.%j -genv MPIPROF_CONFIG none -n 2 ./app"),
    ("mpirun", "Intel(R) MPI Library for Linux* OS, Version 2021", "{dir}/mpirun -genv LD_PRELOAD {lib} -genv MPIPROF_DIR mpiprof.%j -genv MPIPROF_CONFIG none -n 2 ./app"),
    ("mpiexec", "PALS version 1.2", "{dir}/mpiexec --env LD_PRELOAD={lib} --env MPIPROF_DIR=mpiprof.%j --env MPIPROF_CONFIG=none -n 2 ./app"),
    ("srun", "never asked", "env LD_PRELOAD={lib} MPIPROF_DIR=mpiprof.%j MPIPROF_CONFIG=none {dir}/srun --export=ALL -n 2 ./app"),
    ("jsrun", "never asked", "{dir}/jsrun -E LD_PRELOAD={lib} -E MPIPROF_DIR=mpiprof.%j -E MPIPROF_CONFIG=none -n 2 ./app"),
    ("aprun", "aprun 5", "env LD_PRELOAD={lib} MPIPROF_DIR=mpiprof.%j MPIPROF_CONFIG=none {dir}/aprun -n 2 ./app"),
]


@case(mpis=(), ranks=1)
def dry_run_prints_how_each_launcher_is_told(scene):
    for number, (name, says, expected) in enumerate(LAUNCHERS):
        directory = scene.subdir(f"launcher{number}")
        (directory / name).write_text(f"#!/bin/sh\necho {shlex.quote(says)}\n")
        (directory / name).chmod(0o755)
        ran = run(scene, "--dry-run", "--", directory / name, "-n", "2", "./app", env={"LD_PRELOAD": ""})
        same((ran.code, ran.out), (0, expected.format(dir=directory, lib=os.path.realpath(scene.library)) + "\n"), says)
    directory = scene.dir / "launcher6"
    ran = run(scene, "--dry-run", "--dir", "/scratch/%j", "--", directory / "srun", "--export=NONE", "./my app", env={"MPIPROF_TRACE": "all"})
    check("--export=LD_PRELOAD,MPIPROF_DIR,MPIPROF_CONFIG,MPIPROF_TRACE './my app'" in ran.out and "MPIPROF_DIR=/scratch/%j" in ran.out, ran.out)
    ran = run(scene, "--dry-run", "--", directory / "srun", "-n", "2", "/bin/echo", "--export=NONE", env={"LD_PRELOAD": ""})
    check(ran.out.endswith("srun --export=ALL -n 2 /bin/echo --export=NONE\n"), f"an argument of the program's is changed: {ran.out}")
    ran = run(scene, "--dry-run", "--", directory / "srun", "flux", env={"LD_PRELOAD": "/usr/lib/libother.so"})
    check("libmpiprof.so:/usr/lib/libother.so " in ran.out, f"the user's own preload is lost: {ran.out}")


@case(mpis=(), ranks=1)
def run_says_where_nothing_was_profiled(scene):
    ran = run(scene, "--", "true")
    same((ran.code, ran.out), (0, ""), "a command without MPI")
    check(ran.err.startswith("mpiprof: no profile of this run in .:"), ran.err)
    ran = run(scene, "--", "sh", "-c", "exit 4")
    same((ran.code, ran.err), (4, "mpiprof: no profile of this run in .: the command ended with exit code 4\n"), "a command that failed")
    alone = scene.dir / "bin"
    alone.mkdir()
    (alone / "mpiprof").write_bytes(mpiprof(scene).read_bytes())
    (alone / "mpiprof").chmod(0o755)
    ran = execute([alone / "mpiprof", "run", "--quiet", "--", "echo", "ran"], cwd=scene.dir, env=scene.environment({}))
    same((ran.code, ran.out, ran.err), (0, "ran\n", "mpiprof: libmpiprof.so was not found next to mpiprof: the command runs unprofiled; install mpiprof as a whole\n"), "no library")
    same(execute([mpiprof(scene), "report", "--version"], cwd=scene.dir, env=scene.environment({})).out.split()[0], "mpiprof-report", "its reporter")


@case(ranks=4, tier="full")
def run_reaches_the_ranks_of_srun(scene):
    """Also where the user keeps his environment from them; and of mpirun within a batch job."""
    ring = scene.compile("ring.c")
    plugin = {"openmpi": "pmix", "mpich": "pmi2"}[scene.mpi]
    with Cluster() as cluster:
        for name, *export in (("all",), ("none", "--export=NONE")):
            directory = scene.subdir(name)
            command = [mpiprof(scene), "run", "--", "srun", *export, "-N2", "-n4", f"--mpi={plugin}", ring, 9]
            ran = cluster.run(*command, cwd=directory).succeeded()
            same((ran.out, len(profiles_of_job(scene, directory))), ("ring: 4 ranks, 9 calls, sum 63\n", 4), f"{name}: {ran.err}")
            check("profile complete: 4 of 4 ranks" in ran.err and ("--export=NONE became" in ran.err) == bool(export), ran.err)
        script = scene.dir / "job.sh"
        script.write_text(f"#!/bin/bash\n{mpiprof(scene)} run -- {scene.tool(f'mpirun.{scene.mpi}')} -n 4 {ring} 9\n")
        job = cluster.submit("sbatch", "-N2", "-n4", script, cwd=scene.dir)
    same([f"{path.parent.name}/{path.name}" for path in profiles_of_job(scene)], [f"mpiprof.{job}/mpi_profile.{job}.{rank}" for rank in range(4)], "profiles of a batch job")
