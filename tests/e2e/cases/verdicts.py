"""Real programs with one known cause of lost time each: the first line of the report names the cause and the ranks, and
what follows from it stands below. The ranks sleep for work, so that a busy machine is not the cause instead. MPICH's ranks
spin while they wait: more of them than cores are a cause of their own, so there are two."""

import json
import re

from causes import expect, most_foreign, verdict
from harness import case, check, execute, same


@case(ranks=4, attempts=3, slow=("mpich",))
def a_slow_rank_is_the_first_line_and_what_waits_for_it_stands_below(scene):
    found, said = expect(scene, "slow_rank")
    last = found["ranks"]
    check(f"Rank {last} on node " in found["text"] and "outside MPI" in found["text"], found["text"])
    # 6 of 16 ms: the others wait that long in each step.
    check(0.30 < found["run_share"] * (int(last) + 1) / int(last) < 0.42, f"the others wait: {found['text']}")
    below = {row["rule"]: row["because"] for row in said["findings"]}
    same(below.get("waiting"), "slow-rank", "the call that waits")
    check("crowded" not in below or said["foreign"] > most_foreign, "sleeping is no crowding")


@case(mpis=("openmpi",), ranks=4, tier="full", attempts=3)
def a_slow_rank_of_a_fortran_or_python_program_is_named(scene):
    for source in ("slow_rank.f90", "slow_rank.py"):
        expect(scene, "slow_rank", source=source)


@case(ranks=4, tier="full", attempts=3)
def a_slow_rank_of_threads_and_one_that_is_late_now_and_then_are_named(scene):
    for name in ("threads", "periodic"):
        expect(scene, name)


@case(ranks=4, tier="full", attempts=3)
def ranks_that_became_slow_in_the_middle_are_told_since_when(scene):
    found, said = expect(scene, "slow_later")
    run = said["job"]["elapsed_ns"]
    since = (found["since_ns"] - said["job"]["started_at_ns"]) / run
    check(0.3 < since < 0.5, f"began after {since:.2f} of the run: 10 of 26 are the truth")


@case(ranks=4, tier="full", attempts=3)
def a_rank_that_is_late_because_of_what_it_does_inside_mpi_is_named_with_the_call(scene):
    for name, call in (("one_exchanges", "MPI_Sendrecv"), ("one_writes", "MPI_File_write_at")):
        found, said = expect(scene, name)
        check(f" more in {call} than the others" in found["text"], found["text"])
        check("varying-lateness" not in [row["rule"] for row in said["findings"] if not row["because"]], "nothing is random in it")


@case(mpis=("openmpi",), ranks=4, tier="full", attempts=3)
def two_ranks_that_are_late_inside_mpi_together_and_two_that_are_slow_in_turn_are_named(scene):
    expect(scene, "two_exchange")
    found, _ = expect(scene, "two_in_turn")
    check("(rank 1, then 2)" in found["text"], found["text"])


@case(ranks=3, attempts=3)
def a_rank_that_the_others_wait_for_in_finalize_is_named(scene):
    found, _ = expect(scene, "late_in_finalize")
    check(re.search(r"reaches MPI_Finalize (2.9|3.0)", found["text"]), found["text"])


@case(mpis=("openmpi",), ranks=4, tier="full", attempts=3)
def work_that_grows_by_rank_is_called_so(scene):
    expect(scene, "growing")


@case(ranks=2, tier="full", attempts=3)
def a_rank_whose_cgroup_has_too_small_a_quota_is_named_with_it(scene):
    found, _ = expect(scene, "throttled")
    check("the quota of its cgroup throttled it for " in found["text"], found["text"])


@case(mpis=("openmpi",), ranks=4, tier="full", attempts=3)
def work_that_is_uneven_without_a_group_of_slow_ranks_is_called_so(scene):
    expect(scene, "uneven")


@case(mpis=("openmpi",), ranks=4, tier="full", attempts=3)
def the_slower_of_two_communicators_is_named(scene):
    expect(scene, "halves")


@case(ranks=4, tier="full", attempts=3)
def lateness_that_varies_blames_nobody(scene):
    found, _ = expect(scene, "varying")
    check("The straggler changes" not in found["text"], found["text"])


@case(ranks=4, tier="full", attempts=3)
def a_hot_spot_that_moves_from_rank_to_rank_is_told_in_its_order(scene):
    found, _ = expect(scene, "moving")
    check("The straggler changes during the run (rank 0, then 1" in found["text"], found["text"])


@case(ranks=4, tier="full", attempts=3)
def a_chain_of_ranks_is_called_serial(scene):
    expect(scene, "chain")
    if scene.mpi == "openmpi":
        expect(scene, "wavefront")


@case(mpis=("openmpi",), ranks=4, tier="full", attempts=3)
def one_rank_that_serves_all_is_named(scene):
    expect(scene, "serving")


@case(ranks=4, tier="full", attempts=3)
def who_is_waited_for_by_polling_is_named(scene):
    expect(scene, "polling")


@case(ranks=2, tier="full", attempts=3)
def asking_for_messages_all_the_time_is_named(scene):
    expect(scene, "asking")


@case(ranks=2, attempts=3, slow=("mpich",))
def small_messages_are_named_and_are_no_waiting(scene):
    expect(scene, "small_messages")


@case(ranks=2, tier="full", attempts=3)
def a_query_that_is_asked_too_often_is_named(scene):
    _, said = expect(scene, "cheap_calls")
    check("MPI_Comm_size" in json.dumps(said["findings"]), said["findings"])


@case(ranks=2, tier="full", attempts=3)
def much_that_is_moved_written_or_set_up_is_named(scene):
    for name in ("transfers", "files", "duplicates"):
        expect(scene, name)


@case(ranks=3, tier="full", attempts=3)
def a_rank_that_comes_late_to_init_is_named(scene):
    expect(scene, "late_in_init")


@case(ranks=2, attempts=3, slow=("mpich",))
def mpi_on_a_thread_beside_the_work_is_not_lost_time(scene):
    expect(scene, "beside")


@case(ranks=4, attempts=3, slow=("mpich",))
def a_program_that_is_all_in_a_thread_of_its_own_is_judged_as_any(scene):
    expect(scene, "elsewhere")


@case(ranks=4, attempts=3, slow=("mpich",))
def a_thread_that_waits_for_the_one_that_calls_mpi_is_not_beside_it(scene):
    expect(scene, "handed_over")


@case(ranks=4, attempts=3, slow=("mpich",))
def a_healthy_program_is_called_healthy(scene):
    _, said = expect(scene, "healthy")
    check(all(row["severity"] != "serious" or row["rule"] == "placement" for row in said["findings"]), said["findings"])


@case(ranks=4, tier="full", attempts=3)
def giving_the_processor_up_now_and_then_is_healthy(scene):
    expect(scene, "yields")


@case(mpis=("openmpi",), ranks=4, attempts=3)
def more_computing_ranks_than_cores_are_crowded(scene):
    expect(scene, "crowd")


@case(ranks=4, attempts=3)
def a_killed_job_names_the_rank_that_the_others_waited_for(scene):
    found, _ = expect(scene, "killed")
    check("rank 1 on node " in found["text"], found["text"])


@case(ranks=4)
def a_job_that_was_aborted_names_who_did_it_and_the_line(scene):
    found, _ = expect(scene, "aborted")
    check("called MPI_Abort(7)" in found["text"], found["text"])


@case(ranks=3)
def ranks_under_the_launcher_of_another_mpi_are_jobs_of_one(scene):
    other = {"openmpi": "mpich", "mpich": "openmpi"}[scene.mpi]
    program = scene.compile("causes.c", "-pthread")
    env = dict(scene.environment(), LD_PRELOAD=scene.preload())
    execute([*scene.mpirun_of(other), "-n", "3", program, "healthy", "20", "sleep"], cwd=scene.dir, env=env)
    same(verdict(scene, scene.dir)["verdict"]["rule"], "wrong-launcher", "the rule")
    first = " ".join(scene.run_report(cwd=scene.dir).succeeded().out.split())
    check("Launcher mismatch: 3 jobs of one rank each" in first, first)


@case(ranks=2)
def the_verdict_in_a_few_lines_ends_a_jobs_own_output(scene):
    directory = scene.subdir("job")
    same(scene.run_report("--brief", cwd=directory).code, 0, "exit code without a profile")
    for _ in range(2):
        scene.mpirun(2, [scene.compile("causes.c", "-pthread"), "slow_rank", 60, "sleep"], cwd=directory)
    ran = scene.run_report("--brief", cwd=directory).succeeded()
    lines = ran.out.splitlines()
    check(2 <= len(lines) <= 14 and max(map(len, lines)) <= 80 and ran.err == "", ran.out + ran.err)
    check(all("slow-rank: rank 1" in line for line in lines[:-1]) or "[slow-rank]" in ran.out, ran.out)
