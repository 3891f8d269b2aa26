"""Which file a rank writes: jobs, launches and singletons that share a directory keep their files apart."""

import csv
import os
import pwd
import socket
import threading

from harness import case, check, same


def ring_calls(scene, paths):
    """Sendrecv calls per rank in these files."""
    return {rank: n for (rank, call), n in scene.calls(*paths).items() if call == "MPI_Sendrecv"}


def groups(scene):
    """Profiles by launch, as their names say: mpi_profile.<job>.<rank>."""
    found = {}
    for path in scene.profiles():
        found.setdefault(path.name.rsplit(".", 1)[0], []).append(path)
    return found


def run_together(*runs):
    """Starts several runs at once and waits for all of them; their failures are raised here."""
    failures = []

    def guarded(run):
        try:
            run().succeeded()
        except Exception as failure:  # noqa: BLE001: raised below, in the thread that reports
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@case(ranks=4)
def two_jobs_in_one_directory_keep_their_files_apart(scene):
    ring = scene.compile("ring.c")

    run_together(lambda: scene.mpirun(2, [ring, 11]), lambda: scene.mpirun(2, [ring, 22]))

    found = groups(scene)
    same(sorted(len(paths) for paths in found.values()), [2, 2], f"profiles of each job ({sorted(found)})")
    same(sorted(sorted(ring_calls(scene, paths).items()) for paths in found.values()), [[(0, 11), (1, 11)], [(0, 22), (1, 22)]],
         "calls of the two jobs")


@case(ranks=4)
def two_mpiruns_in_one_job_keep_their_files_apart(scene):
    ring = scene.compile("ring.c")
    env = {"PBS_JOBID": "4711.sdb"}

    scene.mpirun(2, [ring, 11], env=env).succeeded()
    scene.mpirun(2, [ring, 22], env=env).succeeded()
    run_together(lambda: scene.mpirun(2, [ring, 33], env=env), lambda: scene.mpirun(2, [ring, 44], env=env))

    found = groups(scene)
    check("mpi_profile.4711" in found and "mpi_profile.4711-2" in found, f"no mpi_profile.4711 and 4711-2: {sorted(found)}")
    same(ring_calls(scene, found["mpi_profile.4711"]), {0: 11, 1: 11}, "calls of the first mpirun")
    same(ring_calls(scene, found["mpi_profile.4711-2"]), {0: 22, 1: 22}, "calls of the second mpirun")
    # The two that ran at once may have shared out the names in any order, rank by rank: a launch is told by its header.
    same(len(scene.profiles()), 8, "profiles")
    totals = sorted(sorted(ring_calls(scene, [path]).values()) for path in scene.profiles())
    same(totals, [[11], [11], [22], [22], [33], [33], [44], [44]], "calls in each file")


@case(ranks=1)
def four_singletons_do_not_overwrite_each_other(scene):
    """What srun makes of an MPICH program without --mpi=pmi2: each is rank 0 of 1, all with one job id."""
    ring = scene.compile("ring.c")
    env = {"PBS_JOBID": "4711.sdb"}

    run_together(*(lambda n=n: scene.alone([ring, n], env=env) for n in (5, 6, 7, 8)))

    same(sorted(ring_calls(scene, [path]).get(0) for path in scene.profiles()), [5, 6, 7, 8], "calls in each file")


@case(ranks=1)
def world_of_one_that_moved_nothing_leaves_no_file(scene):
    ran = scene.alone([scene.compile("idle.c")]).succeeded()
    same(ran.out, "idle: 1\n", "stdout")
    same(os.listdir(scene.dir), [], "files")


@case(ranks=2)
def world_of_two_that_moved_nothing_leaves_its_files(scene):
    scene.mpirun(2, [scene.compile("idle.c")]).succeeded()
    same(len(scene.profiles()), 2, "profiles")


@case(ranks=2)
def job_is_named_as_the_scheduler_names_it(scene):
    ring = scene.compile("ring.c")
    jobs = [({"PBS_JOBID": "4711.sdb"}, "4711"), ({"PBS_JOBID": "4711[3].sdb"}, "4711_3"), ({"SLURM_JOB_ID": "815"}, "815"),
            ({"MPIPROF_JOB": "baseline", "PBS_JOBID": "4711.sdb"}, "baseline")]
    for number, (env, name) in enumerate(jobs):
        directory = scene.subdir(f"job{number}")
        scene.mpirun(2, [ring, 3], env=env, cwd=directory).succeeded()
        same([p.name for p in scene.profiles(directory)], [f"mpi_profile.{name}.0", f"mpi_profile.{name}.1"], f"files with {env}")


@case(ranks=2)
def job_is_found_by_every_name_that_its_scheduler_has_for_it(scene):
    """Members of an array and steps of a job, all in one folder."""
    ring = scene.compile("ring.c")
    jobs = [({"SLURM_JOB_ID": 4712, "SLURM_ARRAY_JOB_ID": 4711, "SLURM_ARRAY_TASK_ID": 0, "SLURM_STEP_ID": 0}, "4711_0", ("4712", "4712.0", "4711_0.0")),
            ({"SLURM_JOB_ID": 4711, "SLURM_ARRAY_JOB_ID": 4711, "SLURM_ARRAY_TASK_ID": 1}, "4711_1", ("4711_1",)),
            ({"SLURM_JOB_ID": 815, "SLURM_STEP_ID": 0}, "815", ("815.0",)),
            ({"SLURM_JOB_ID": 815, "SLURM_STEP_ID": 1}, "815", ("815.1", "815")),
            ({"PBS_JOBID": "9[3].sdb.example.org"}, "9_3", ("9[3]", "9[3].sdb", "9", "9[]")),
            ({"MPIPROF_JOB": "baseline", "PBS_JOBID": "17.sdb"}, "baseline", ("17.sdb", "17"))]
    for number, (env, _, _) in enumerate(jobs, 3):
        scene.mpirun(2, ["env", *(f"{name}={value}" for name, value in env.items()), ring, number]).succeeded()
    for number, (env, name, called) in enumerate(jobs, 3):
        for job in called:
            rows = csv.DictReader(scene.run_report("export", "-f", "csv", "--job", job).succeeded().out.splitlines())
            same({int(row["calls"]) for row in rows if row["call"] == "MPI_Sendrecv"}, {number}, f"Sendrecvs of {job}, which is {name}")
    listed = scene.run_report("--job", "4711")
    same((listed.code, listed.err), (3, "mpiprof-report: --job 4711: 2 jobs are called so; choose one: 4711_0, 4711_1\n"), "an array")
    check("job 4711_0 (4712.0)" in scene.run_report("--job", "4712").out, "the raw id on the screen")


@case(ranks=2)
def directory_setting_expands_j_u_h(scene):
    ring = scene.compile("ring.c")
    user = pwd.getpwuid(os.getuid()).pw_name

    scene.mpirun(2, [ring, 3], env={"PBS_JOBID": "4711.sdb", "USER": user, "MPIPROF_DIR": scene.dir / "out/%j-%u-%h"}).succeeded()

    host = socket.gethostname()
    expected = [scene.dir / "out" / f"4711-{user}-{host}" / f"mpi_profile.4711.{rank}" for rank in (0, 1)]
    found = sorted(p for p in scene.dir.rglob("mpi_profile.*") if p.suffix != ".txt")
    same(found, expected, "files")


@case(ranks=2)
def text_of_rank_0_is_there_to_cat(scene):
    scene.mpirun(2, [scene.compile("ring.c"), 30], env={"PBS_JOBID": "4711.sdb"}).succeeded()
    texts = sorted(p.name for p in scene.dir.glob("*.txt"))
    same(texts, ["mpi_profile.4711.0.txt"], "text files")
    text = (scene.dir / texts[0]).read_text()
    check(text.startswith("Data for MPI rank 0 of 2:\n"), f"the text begins {text[:60]!r}")
    check(f"{'MPI_Sendrecv':<28} {30:>12}    {16:>11.1f}   " in text, f"no line for 30 Sendrecv of 16 bytes:\n{text}")


@case(ranks=2)
def text_setting_chooses_the_ranks(scene):
    ring = scene.compile("ring.c")
    for value, expected in (("all", [0, 1, 2]), ("1", [1]), ("0,2", [0, 2]), ("none", [])):
        directory = scene.subdir(f"text-{value}")
        scene.mpirun(3, [ring, 3], env={"PBS_JOBID": "4711", "MPIPROF_TEXT": value}, cwd=directory).succeeded()
        same(sorted(p.name for p in directory.glob("*.txt")), [f"mpi_profile.4711.{r}.txt" for r in expected], f"MPIPROF_TEXT={value}")


@case(ranks=2)
def directory_that_cannot_be_written_is_said_once_and_harms_nothing(scene):
    ring = scene.compile("ring.c")
    plain = scene.mpirun(2, [ring, 3], profiled=None).succeeded()
    ran = scene.mpirun(2, [ring, 3], env={"MPIPROF_DIR": "/proc/no/such/place"}).succeeded()
    same(ran.out, plain.out, "stdout")
    lines = [line for line in ran.err.splitlines() if line]
    check(len(lines) == 1 and "mpiprof" in lines[0] and "/proc/no/such/place" in lines[0], f"stderr is {ran.err!r}")
