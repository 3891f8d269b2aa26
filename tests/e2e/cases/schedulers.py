"""Jobs under Slurm, and under PBS as Slurm's qsub plays it: every way to start a job gives one profile per rank."""

import os
import re
import shutil

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


def edited(scene, script, prefix):
    """The examples as a user has them who edited the one line that is to be edited."""
    shutil.copytree(ROOT / "examples", scene.dir / "examples", ignore=shutil.ignore_patterns("data_parallel"), dirs_exist_ok=True)
    (scene.dir / "examples" / "data_parallel").mkdir(exist_ok=True)
    for name in ("data_parallel.c", "Makefile"):
        shutil.copy(ROOT / "examples" / "data_parallel" / name, scene.dir / "examples" / "data_parallel")
    path = scene.dir / "examples" / script
    text, lines = re.subn(r"^mpiprof=.*$", f"mpiprof={prefix}", path.read_text(), flags=re.MULTILINE)
    same(lines, 1, f"lines to edit in {script}")
    path.write_text(text)
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
