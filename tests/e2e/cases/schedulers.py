"""Jobs under Slurm, and under PBS as Slurm's qsub plays it: every way to start a job gives one profile per rank."""

import json
import os
import re
import shutil
import time

from harness import ROOT, case, check, same
from slurm.cluster import Cluster


def install(scene):
    """An installed mpiprof, as a job script expects it."""
    prefix = scene.subdir("mpiprof")
    for name, source in (("lib/libmpiprof.so", scene.library), ("bin/mpiprof-report", scene.report)):
        (prefix / name).parent.mkdir()
        shutil.copy(source, prefix / name)
    return prefix


def path_with(scene):
    """A PATH on which mpicc and mpirun are this MPI's."""
    folder = scene.subdir("path")
    for name, tool in (("mpicc", scene.mpicc()), ("mpirun", scene.tool(f"mpirun.{scene.mpi}"))):
        # Not links: MPICH's mpirun looks for its helpers beside the name it was called by, and waits if there are none.
        (folder / name).write_text(f'#!/bin/sh\nexec {tool} "$@"\n')
        (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


PMI = {"openmpi": "pmix", "mpich": "pmi2"}


def edited(scene, script, prefix):
    """The examples as a user has them who edited the line or two that are to be edited."""
    shutil.copytree(ROOT / "examples", scene.dir / "examples", ignore=shutil.ignore_patterns("data_parallel"), dirs_exist_ok=True)
    (scene.dir / "examples" / "data_parallel").mkdir(exist_ok=True)
    for name in ("data_parallel.c", "Makefile"):
        shutil.copy(ROOT / "examples" / "data_parallel" / name, scene.dir / "examples" / "data_parallel")
    path = scene.dir / "examples" / script
    text, lines = re.subn(r"^mpiprof=.*$", f"mpiprof={prefix}", path.read_text(), flags=re.MULTILINE)
    same(lines, 1, f"lines to edit in {script}")
    path.write_text(re.sub(r"^mpi=.*$", f"mpi={PMI[scene.mpi]}", text, flags=re.MULTILINE))
    return path


def names(scene, directory):
    return [p.name for p in scene.profiles(directory)]


def run_example(scene, script, command):
    path = edited(scene, script, install(scene))
    env = {"PATH": path_with(scene)}
    with Cluster() as cluster:
        job = cluster.submit(command, path.name, cwd=path.parent, env=env)
    outputs = [p for p in path.parent.iterdir() if job in p.name and not p.name.startswith("mpi_profile")]
    output = "\n".join(p.read_text() for p in outputs)
    check("data_parallel: 4 ranks, 100 steps, loss 35.000 -> 8.671" in output, f"the job's output:\n{output}")
    said = [line for line in output.splitlines() if line.startswith("mpiprof: ")]
    same(len(said), 1, f"verdicts at the end of the job's output:\n{output}")
    check("profile complete: 4 of 4 ranks" in output or "[healthy]" in output, output)
    same(names(scene, path.parent), [f"mpi_profile.{job}.{rank}" for rank in range(4)], "profiles")


@case(ranks=4, tier="full")
def pbs_job_script_runs_as_it_stands(scene):
    run_example(scene, "pbs/job.pbs", "qsub")


@case(ranks=4, tier="full")
def slurm_job_script_runs_as_it_stands(scene):
    run_example(scene, "slurm/job.sbatch", "sbatch")


def run_array(scene, script, command):
    """Three members at once in one folder: each has its own profiles, verdict and state, and all names that its scheduler has."""
    path = edited(scene, script, install(scene))
    env = {"PATH": path_with(scene)}
    scene.alone(["make", "-C", path.parents[1] / "data_parallel"], profiled=False, env=env).succeeded()
    with Cluster(pbs=command == "qsub") as cluster:
        array = cluster.submit(command, path.name, cwd=path.parent, env=env, patience=150)
    raw = {}
    for index in range(3):
        same(len([p for p in scene.profiles(path.parent) if p.name.startswith(f"mpi_profile.{array}_{index}.")]), 2,
             f"profiles of member {index}: {names(scene, path.parent)}")
        line = json.loads(scene.run_report("export", "-f", "line", "--job", f"{array}_{index}", cwd=path.parent).succeeded().out)
        same((line["job"], line["ranks"], line["completeness"]["is_complete"]), (f"{array}_{index}", 2, True), f"member {index}")
        raw[index] = line["job_ids"].split()[1].split(".")[0]
    same(len(set(raw.values())), 3, f"raw ids: {raw}")
    for index, number in raw.items():
        if number == array: continue
        found = scene.run_report("--job", number, cwd=path.parent).succeeded()
        check(f"job {array}_{index} ({number}" in found.out, f"--job {number}: {found.out}{found.err}")
    listed = scene.run_report("--job", array, cwd=path.parent)
    same(listed.code, 3, "one job is asked for")
    check(f"--job {array}: 3 jobs are called so; choose one: " in listed.err, listed.err)
    same(sorted(re.findall(rf"{array}_\d", listed.err)), [f"{array}_{index}" for index in range(3)], "jobs to choose from, oldest first")
    # Slurm's qsub has all members of an array that is asked for in the script write into one file, which each of them empties.
    outputs = [p.read_text() for p in path.parent.iterdir() if re.search(rf"(-{array}_\d\.out|\.o{array})$", p.name)]
    verdicts = [re.findall(r"^mpiprof: (?!--job)", text, re.MULTILINE) for text in outputs]
    expected = [1] if command == "qsub" else [1, 1, 1]
    same([min(len(found), 1) if command == "qsub" else len(found) for found in verdicts], expected, f"verdicts of members: {outputs}")
    check("mpiprof: --job" not in "".join(outputs), f"a member does not find itself: {outputs}")


@case(ranks=4, tier="full")
def slurm_array_runs_as_it_stands_and_its_tasks_are_found_by_raw_ids(scene):
    run_array(scene, "slurm/array.sbatch", "sbatch")


@case(ranks=4, tier="full")
def pbs_array_runs_as_it_stands(scene):
    run_array(scene, "pbs/array.pbs", "qsub")


@case(ranks=4, tier="full")
def srun_example_runs_as_it_stands_and_its_steps_are_found_by_their_numbers(scene):
    path = edited(scene, "slurm/srun.sbatch", install(scene))
    with Cluster(pbs=False) as cluster:
        job = cluster.submit("sbatch", path.name, cwd=path.parent, env={"PATH": path_with(scene)}, patience=150)
    output = (path.parent / f"slurm-{job}.out").read_text()
    same(output.count("data_parallel: 2 ranks, 100 steps"), 2, f"two steps at once: {output}")
    same(len(re.findall(r"^mpiprof: ", output, re.MULTILINE)), 2, f"verdicts: {output}")
    launches = set()
    for step in (0, 1):
        line = json.loads(scene.run_report("export", "-f", "line", "--job", f"{job}.{step}", cwd=path.parent).succeeded().out)
        same((line["job"], line["job_ids"], line["ranks"], line["completeness"]["is_complete"]), (job, f"{job}.{step}", 2, True), f"step {step}")
        launches.add(line["launch"])
    same(len(launches), 2, "launches")
    missing = scene.run_report("--job", f"{job}.2", cwd=path.parent)
    check(missing.code == 3 and f"there is {job}" in missing.err, missing.err)


@case(ranks=4, tier="full")
def heterogeneous_job_runs_as_it_stands(scene):
    path = edited(scene, "slurm/heterogeneous.sbatch", install(scene))
    with Cluster(pbs=False) as cluster:
        job = cluster.submit("sbatch", path.name, cwd=path.parent, env={"PATH": path_with(scene)}, patience=150)
    output = (path.parent / f"slurm-{job}.out").read_text()
    check("data_parallel: 4 ranks, 100 steps" in output, f"one world of four: {output}")
    same(len(re.findall(r"^mpiprof: ", output, re.MULTILINE)), 1, output)
    report = scene.run_report("--job", job, cwd=path.parent)
    check("4 ranks" in report.out and "profile complete" in report.out, f"{report.out}{report.err}")


@case(ranks=4, tier="full")
def walltime_and_requeue_leave_readable_profiles_with_their_names_and_states(scene):
    """One job runs into its time limit, another is requeued and runs again under the same number."""
    ring = scene.compile("ring.c")
    script = scene.dir / "job.sh"
    script.write_text(f"#!/bin/bash\nexport LD_PRELOAD={scene.preload()}\n"
                      f"[ -z \"$SLURM_RESTART_COUNT\" ] && [ -z \"$ENDLESS\" ] && wait=sleep\n"
                      f"{scene.tool(f'mpirun.{scene.mpi}')} -n 4 {ring} 500 ${{wait:-$ENDLESS}}\n")
    limited, requeued = scene.subdir("limited"), scene.subdir("requeued")
    with Cluster(pbs=False) as cluster:
        def start(place, *options, env=None):
            job = re.search(r"\d+", cluster.run("sbatch", "-N1", "-n4", *options, script, cwd=place, env=env).succeeded().out).group()
            output = place / f"slurm-{job}.out"
            cluster.wait_until(lambda: output.exists() and "500 calls" in output.read_text(), "the ranks' calls", 60)
            return job

        def wait_for(job, states, patience):
            cluster.wait_until(lambda: cluster.run("squeue", "-h", "-j", job, "-o", "%T").out.strip() in states, f"{job} in {states}", patience)

        first = start(limited, "--time=1", env={"ENDLESS": "sleep"})
        second = start(requeued, "--requeue")
        cluster.run("scontrol", "requeue", second).succeeded()
        wait_for(second, ("PENDING",), 60)
        cluster.run("scontrol", "update", f"JobId={second}", "StartTime=now").succeeded()
        wait_for(second, ("", "COMPLETED"), 120)
        wait_for(first, ("", "TIMEOUT"), 150)
        time.sleep(8)  # KillWait, and a moment
    same(names(scene, limited), [f"mpi_profile.{first}.{rank}" for rank in range(4)], "profiles at the time limit")
    found = scene.calls(cwd=limited)
    same({key: n for key, n in found.items() if key[1] == "MPI_Sendrecv"}, {(rank, "MPI_Sendrecv"): 500 for rank in range(4)}, "calls")
    told = scene.run_report("--job", first, cwd=limited)
    check("INCOMPLETE" in told.out or "killed" in told.out or "ended without" in told.out, told.out)
    same(names(scene, requeued), [f"mpi_profile.{second}{run}.{rank}" for run in ("-2", "") for rank in range(4)], "profiles of two runs")
    newest = scene.run_report("--job", second, cwd=requeued).succeeded()
    check("profile complete: 4 of 4 ranks" in newest.out, newest.out)
    older = scene.run_report("--launch", "2", cwd=requeued)
    check("profile complete" not in older.out, older.out)


@case(ranks=4, tier="full")
def srun_gives_one_profile_per_rank(scene):
    ring = scene.compile("ring.c")
    plugin = {"openmpi": "pmix", "mpich": "pmi2"}[scene.mpi]
    with Cluster() as cluster:
        ran = cluster.run("srun", "-N2", "-n4", f"--mpi={plugin}", ring, 9, cwd=scene.dir,
                          env={"LD_PRELOAD": scene.preload()}).succeeded()
        same((ran.out, ran.err), ("ring: 4 ranks, 9 calls, sum 63\n", ""), "output")
        same(len(names(scene, scene.dir)), 4, "profiles")
        # Two steps of one job are two launches.
        script = scene.dir / "steps.sh"
        script.write_text(f"#!/bin/bash\nexport LD_PRELOAD={scene.preload()}\n"
                          + "".join(f"srun --mpi={plugin} -n4 {ring} {calls}\n" for calls in (21, 22)))
        steps = scene.subdir("steps")
        job = cluster.submit("sbatch", "-N2", "-n4", script, cwd=steps)
    same(names(scene, steps), [f"mpi_profile.{job}{step}.{rank}" for step in ("-2", "") for rank in range(4)], "profiles of two steps")
    for step, calls in (("", 21), ("-2", 22)):
        found = scene.calls(*steps.glob(f"mpi_profile.{job}{step}.?"))
        same({key: n for key, n in found.items() if key[1] == "MPI_Sendrecv"},
             {(rank, "MPI_Sendrecv"): calls for rank in range(4)}, f"calls of step {step or 1}")


@case(mpis=("mpich",), ranks=4, tier="full")
def srun_without_pmi_gives_four_singletons_with_a_file_each(scene):
    ring = scene.compile("ring.c")
    with Cluster(pbs=False) as cluster:
        for plugin in ("pmix", "none"):
            directory = scene.subdir(plugin)
            ran = cluster.run("srun", "-N2", "-n4", f"--mpi={plugin}", ring, 9, cwd=directory,
                              env={"LD_PRELOAD": scene.preload()}).succeeded()
            same(ran.out, "ring: 1 ranks, 9 calls, sum 36\n" * 4, "stdout")
            paths = scene.profiles(directory)
            same(len(paths), 4, f"profiles with --mpi={plugin}: {names(scene, directory)}")
            for path in paths:
                same(scene.calls(path)[0, "MPI_Sendrecv"], 9, f"calls in {path.name}")


@case(ranks=4, tier="full")
def mpirun_in_an_allocation_gives_one_profile_per_rank(scene):
    ring = scene.compile("ring.c")
    script = scene.dir / "job.sh"
    script.write_text(f"#!/bin/bash\nexport LD_PRELOAD={scene.preload()}\n{scene.tool(f'mpirun.{scene.mpi}')} -n 4 {ring} 9\n")
    for command in ("sbatch", "qsub"):
        directory = scene.subdir(command)
        with Cluster(pbs=command == "qsub") as cluster:
            options = ["-N2", "-n4"] if command == "sbatch" else ["-l", "nodes=2:ppn=2"]
            job = cluster.submit(command, *options, script, cwd=directory)
        same(names(scene, directory), [f"mpi_profile.{job}.{rank}" for rank in range(4)], f"profiles of a {command} job")
        found = scene.calls(cwd=directory)
        same({key: n for key, n in found.items() if key[1] == "MPI_Sendrecv"},
             {(rank, "MPI_Sendrecv"): 9 for rank in range(4)}, f"calls of a {command} job")


@case(ranks=4, tier="full")
def cancelled_job_keeps_its_profiles(scene):
    """scancel and the launchers kill within seconds; what was counted is in the files."""
    ring = scene.compile("ring.c")
    script = scene.dir / "job.sh"
    script.write_text(f"#!/bin/bash\nexport LD_PRELOAD={scene.preload()}\n"
                      f"{scene.tool(f'mpirun.{scene.mpi}')} -n 4 {ring} 500 sleep\n")
    with Cluster() as cluster:
        ran = cluster.run("sbatch", "-N2", "-n4", script, cwd=scene.dir).succeeded()
        job = re.search(r"\d+", ran.out).group()
        output = scene.dir / f"slurm-{job}.out"
        cluster.wait_until(lambda: output.exists() and "500 calls" in output.read_text(), "the ranks' calls", 60)
        cluster.run("scancel", job).succeeded()
        cluster.wait_until(lambda: not cluster.run("squeue", "-h", "-j", job).out.strip(), "the job's end", 60)
        found = scene.calls()
    same({key: n for key, n in found.items() if key[1] == "MPI_Sendrecv"},
         {(rank, "MPI_Sendrecv"): 500 for rank in range(4)}, "calls in the profiles")
