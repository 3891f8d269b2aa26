"""Programs that mark what they do and never begin MPI or NCCL, and what runs are labelled as."""

import json

from harness import case, check, same
from cases.regions import percentile


def ranks_of(scene, directory, *arguments):
    return json.loads(scene.run_report("export", "-f", "json", *arguments, cwd=directory).succeeded().out)


def marked(scene, *arguments, directory=None, env=None):
    program = scene.compile("marked.c", compiler="cc", label="")
    return scene.alone([program, *arguments], cwd=directory, env=env)


@case(mpis=())
def serial_program_that_marks_leaves_a_profile(scene):
    lengths = [float(line) for line in marked(scene, 50, env={"MPIPROF_LABELS": "bucket_size=25"}).succeeded().out.split()]
    job = ranks_of(scene, scene.dir)
    same([r["state"] for r in job["ranks"]], ["finalized"], "state")
    same(job["size"], 1, "size")
    same({row["name"]: [v["value"] for v in row["values"]] for row in job["labels"]}, {"bucket_size": ["25"], "model": ["resnet50"]}, "labels")
    region = next(r for r in job["regions"] if r["is_iteration"])
    same(region["entered"], 50, "iterations")
    for share in (50, 75, 90, 95):
        truth = percentile(lengths, share / 100) * 1000
        check(abs(region[f"p{share}_ns"] - truth) <= 0.02 * truth, f"p{share}: {region[f'p{share}_ns']} ns, the program says {truth}")
    for asked in (["summary"], ["time"], ["regions"], ["text", "--layout", "ddp"], ["diff", scene.dir, scene.dir], ["scaling", scene.dir]):
        out = scene.run_report(*asked).succeeded().out
        check("NCCL" not in out.replace("MPI or NCCL", "").replace("MPI nor NCCL", ""), f"{asked[0]} speaks of a library that was never there:\n{out}")


@case(mpis=())
def program_that_marks_nothing_leaves_nothing(scene):
    marked(scene, "none", env={"MPIPROF_LABELS": "bucket_size=25"}).succeeded()
    same(scene.profiles(), [], "files")


@case(mpis=())
def marked_serial_program_is_the_same_with_and_without_us(scene):
    program = scene.compile("marked.c", compiler="cc", label="")
    for how, code in (("_exit", 3), ("fork", 0), ("exec", 0), ("kill", -9)):
        plain = scene.alone([program, 3, how], profiled=False)
        ran = scene.alone([program, 3, how], cwd=scene.subdir(how))
        same((ran.code, len(ran.out.split()), ran.err), (code, len(plain.out.split()), plain.err), how)


@case(mpis=())
def serial_program_that_is_killed_keeps_its_iterations(scene):
    for store in ("mapped",):
        directory = scene.subdir(store)
        marked(scene, 20, "kill", directory=directory, env={"MPIPROF_STORE": store})
        job = ranks_of(scene, directory)
        iterations = next(r for r in job["regions"] if r["is_iteration"])
        same(iterations["entered"], 20, f"iterations with the {store} store")
        elapsed = job["ranks"][0]["elapsed_ns"]
        check(elapsed >= iterations["time_ns"] > 0, f"ran {elapsed} ns, {iterations['time_ns']} of them in iterations")


@case(mpis=())
def child_of_a_marked_program_changes_nothing(scene):
    marked(scene, 20, "fork").succeeded()
    same(len(scene.profiles()), 1, "profiles")
    job = ranks_of(scene, scene.dir)
    same([r["entered"] for r in job["regions"] if r["is_iteration"]], [20], "iterations: the child's are not the parent's")


@case(mpis=())
def program_that_execs_after_marks_has_a_profile_of_each(scene):
    marked(scene, 10, "exec").succeeded()
    same(len(scene.profiles()), 2, "profiles")


@case(ranks=2)
def marks_before_mpi_init_are_of_the_same_job(scene):
    program = scene.compile("marked_before_init.c")
    scene.mpirun(2, program, env={"MPIPROF_LABELS": "bucket_size,nodes=1"}).succeeded()
    same(sorted(path.name.rsplit(".", 1)[1] for path in scene.profiles()), ["0", "1"], "profiles")
    job = ranks_of(scene, scene.dir)
    same(len(job["ranks"]), 2, "ranks")
    same({row["name"]: [v["value"] for v in row["values"]] for row in job["labels"]}, {"model": ["resnet50"], "nodes": ["1"]}, "labels")
    regions = {r["region"]: r for r in job["regions"]}
    check(regions["set up"]["time_ns"] >= 2 * 0.3e9, f"set up took 0.3 s on each: {regions['set up']}")
    same([r["entered"] for r in job["regions"] if r["is_iteration"]], [20], "iterations")
    for rank in job["ranks"]:
        check(rank["elapsed_ns"] < rank["process_ns"] - 0.3e9, f"elapsed begins with MPI_Init: {rank}")


@case(ranks=2)
def label_that_cannot_be_read_is_said_in_one_line(scene):
    program = scene.compile("ring.c")
    ran = scene.mpirun(2, [program, 3], env={"MPIPROF_LABELS": "bucket_size,model=resnet50,=3"}).succeeded()
    same(ran.err, 'mpiprof: MPIPROF_LABELS: "bucket_size" is not a label (expected KEY=VALUE) and is ignored, and so are others\n', "stderr")
