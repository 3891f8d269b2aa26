"""Real programs with one known cause of lost time each: the first line of the report names the cause and the ranks, and
what follows from it stands below. The ranks sleep for work, so that a busy machine is not the cause instead. MPICH's ranks
spin while they wait: more of them than cores are a cause of their own, so there are two."""

import json
import os
import resource
import time

from harness import Skip, case, check, execute, same


most_foreign = 0.1  # of the processors: what others than the job may use


def verdict(scene, directory):
    return json.loads(scene.run_report("summary", "--format", "json", cwd=directory).succeeded().out)


def busy_seconds():
    """What all processors together have worked since the machine started."""
    user, nice, system, _, _, irq, softirq = map(int, open("/proc/stat").readline().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def judged(scene, cause, steps, *how, ranks=4):
    """The first line of the report of programs/causes.c, as data; of a run that others disturbed little, if there is one."""
    program = scene.compile("causes.c", "-pthread")
    for attempt in range(4):
        directory = scene.subdir(f"{cause}.{attempt}")
        busy, own, began = busy_seconds(), own_seconds(), time.monotonic()
        scene.mpirun(ranks, [program, cause, steps, *how], cwd=directory)
        others = busy_seconds() - busy - (own_seconds() - own)
        said = verdict(scene, directory)
        said["foreign"] = others / (time.monotonic() - began) / os.cpu_count()
        if said["foreign"] < most_foreign:
            break
    return said


def several(scene):
    return 4 if scene.mpi == "openmpi" else 2


def expect(said, rule, ranks):
    found = said["verdict"]
    if (found["rule"], found["ranks"]) != (rule, ranks) and said.get("foreign", 0) > most_foreign:
        raise Skip(f"others use {100 * said['foreign']:.0f} % of the processors: {found['text']}")
    same((found["rule"], found["ranks"]), (rule, ranks), found["text"])
    return found


@case(ranks=4, attempts=3)
def a_slow_rank_is_the_first_line_and_what_waits_for_it_stands_below(scene):
    ranks = several(scene)
    said = judged(scene, "slow_rank", 150, "sleep", ranks=ranks)
    found = expect(said, "slow-rank", str(ranks - 1))
    check(f"Rank {ranks - 1} on node " in found["text"] and "outside MPI" in found["text"], found["text"])
    # 6 of 16 ms: the others wait that long in each step.
    check(0.30 < found["run_share"] * ranks / (ranks - 1) < 0.42, f"the others wait: {found['text']}")
    below = {row["rule"]: row["because"] for row in said["findings"]}
    same(below.get("waiting"), "slow-rank", "the call that waits")
    check("crowded" not in below or said.get("foreign", 0) > most_foreign, "sleeping is no crowding")


@case(ranks=4, tier="full", attempts=3)
def ranks_that_became_slow_in_the_middle_are_told_since_when(scene):
    ranks = several(scene)
    said = judged(scene, "slow_later", 200, "sleep", ranks=ranks)
    found = expect(said, "slow-rank", "1-2" if ranks > 2 else "1")
    run = said["job"]["elapsed_ns"]
    since = (found["since_ns"] - said["job"]["started_at_ns"]) / run
    check(0.3 < since < 0.5, f"began after {since:.2f} of the run: 10 of 26 are the truth")


@case(mpis=("openmpi",), ranks=4, tier="full", attempts=3)
def work_that_grows_by_rank_is_called_so(scene):
    expect(judged(scene, "growing", 100, "sleep"), "growing-work", "3")


@case(ranks=4, tier="full", attempts=3)
def lateness_that_varies_blames_nobody(scene):
    expect(judged(scene, "varying", 150, "sleep", ranks=several(scene)), "varying-lateness", None)


@case(ranks=4, tier="full", attempts=3)
def a_chain_of_ranks_is_called_serial(scene):
    expect(judged(scene, "chain", 100, "sleep", ranks=several(scene)), "serial-chain", None)


@case(mpis=("openmpi",), ranks=4, tier="full", attempts=3)
def one_rank_that_serves_all_is_named(scene):
    expect(judged(scene, "serving", 100, "sleep"), "one-serves-all", "0")


@case(ranks=4, tier="full", attempts=3)
def who_is_waited_for_by_polling_is_named(scene):
    ranks = several(scene)
    expect(judged(scene, "polling", 150, "sleep", ranks=ranks), "slow-rank", str(ranks - 1))


@case(ranks=2, attempts=3)
def small_messages_are_named_and_are_no_waiting(scene):
    said = judged(scene, "small_messages", 1500, ranks=2)
    expect(said, "small-messages", None)


@case(ranks=2, tier="full", attempts=3)
def a_query_that_is_asked_too_often_is_named(scene):
    said = judged(scene, "cheap_calls", 200, ranks=2)
    expect(said, "cheap-calls", None)
    check("MPI_Comm_size" in json.dumps(said["findings"]), said["findings"])


@case(ranks=3, tier="full", attempts=3)
def a_rank_that_comes_late_to_init_is_named(scene):
    expect(judged(scene, "late_in_init", 50, "sleep", ranks=3), "init", "1")


@case(ranks=2, attempts=3)
def mpi_on_a_thread_beside_the_work_is_not_lost_time(scene):
    expect(judged(scene, "beside", 300, "sleep", ranks=2), "overlap", None)


@case(ranks=2, attempts=3)
def a_healthy_program_is_called_healthy(scene):
    said = judged(scene, "healthy", 150, "sleep", ranks=2)
    expect(said, "healthy", None)
    check(all(row["weight"] != "!" or row["rule"] == "placement" for row in said["findings"]), said["findings"])


@case(ranks=4, attempts=3)
def a_killed_job_names_the_rank_that_the_others_waited_for(scene):
    found = expect(judged(scene, "killed", 100, "sleep"), "unfinished", "1")
    check("rank 1 on node " in found["text"], found["text"])


@case(ranks=4)
def a_job_that_was_aborted_names_who_did_it_and_the_line(scene):
    found = expect(judged(scene, "aborted", 100, "sleep"), "unfinished", "2")
    check("called MPI_Abort(7)" in found["text"], found["text"])


@case(ranks=3)
def ranks_under_the_launcher_of_another_mpi_are_jobs_of_one(scene):
    other = {"openmpi": "mpich", "mpich": "openmpi"}[scene.mpi]
    program = scene.compile("causes.c", "-pthread")
    env = dict(scene.environment(), LD_PRELOAD=scene.preload())
    execute([*scene.mpirun_of(other), "-n", "3", program, "healthy", "20", "sleep"], cwd=scene.dir, env=env)
    expect(verdict(scene, scene.dir), "wrong-launcher", None)
    first = scene.run_report(cwd=scene.dir).succeeded().out.split(":")[0]
    check("These are 3 jobs of one rank each" in first, first)


@case(ranks=2)
def the_verdict_in_six_lines_ends_a_jobs_own_output(scene):
    directory = scene.subdir("job")
    same(scene.run_report("--brief", cwd=directory).code, 0, "exit code without a profile")
    for _ in range(2):
        scene.mpirun(2, [scene.compile("causes.c", "-pthread"), "slow_rank", 60, "sleep"], cwd=directory)
    ran = scene.run_report("--brief", cwd=directory).succeeded()
    lines = ran.out.splitlines()
    check(2 <= len(lines) <= 6 and max(map(len, lines)) <= 80 and ran.err == "", ran.out + ran.err)
    check(all("slow-rank: rank 1" in line for line in lines[:-1]) or "[slow-rank]" in ran.out, ran.out)
