"""What programs do to themselves, and what is done to them, while they are profiled: the process life part of
docs/reliability.md. Every row is a run of programs/acts.c without and with the library, in both stores."""

import os

from acts import CALLS, STORES, OpenPlace, Pair, count_of, our_lines, program
from harness import Skip, case, check, same


def pairs(scene, rows, stores=STORES, **options):
    for store in stores:
        for acts in rows:
            yield Pair(scene, acts.split(), env={"MPIPROF_STORE": store}, **options)


CHILDREN = ("fork_exit", "fork__exit", "bare_fork", "raw_clone", "vfork_exec", "spawn", "system", "popen")


@case(ranks=1)
def children_of_every_kind_leave_the_parents_profile_alone(scene):
    """All at once, and one of them before MPI_Init and after MPI_Finalize as well."""
    for pair in pairs(scene, ["middle:every_child before:fork_exit after:system"], stores=("mapped",)):
        pair.unchanged().counts()
        same(count_of(scene, pair.directory, "MPI_Comm_rank"), {0: 1}, "MPI_Comm_rank, which the children call as well")


@case(ranks=1, tier="full")
def each_kind_of_child_leaves_the_parents_profile_alone(scene):
    for pair in pairs(scene, [f"middle:{child}" for child in CHILDREN]):
        pair.unchanged().counts().state("finalized")
        same(count_of(scene, pair.directory, "MPI_Comm_rank"), {0: 1}, f"MPI_Comm_rank, {pair.what}")


@case(ranks=1)
def children_of_a_process_whose_threads_mark_their_parts_end(scene):
    ran = scene.alone([program(scene), "10", "middle:fork_while_marking=30"], timeout=100).succeeded()
    same(our_lines(ran), [], "lines of ours")


@case(ranks=1)
def exit_in_a_signal_handler_waits_for_nothing_that_it_interrupted(scene):
    for moment in (3001, 5003, 7001, 9007, 11003):
        ran = scene.alone([program(scene), "10", f"end:handler_exits={moment}"], cwd=scene.subdir(str(moment)), timeout=100)
        same(ran.code, 7, "exit code")
        check(count_of(scene, scene.dir / str(moment)) == {0: 10}, "the calls are in the profile")


@case(ranks=1, tier="full")
def exec_before_init_is_as_without_us(scene):
    for pair in pairs(scene, ["before:exec_again"]):
        pair.unchanged().counts().state("finalized")


@case(ranks=1, tier="full")
def thread_that_ends_within_a_call_is_left_to_end(scene):
    for pair in pairs(scene, ["middle:exit_thread", "middle:cancel_thread"]):
        pair.unchanged().counts()
        same(count_of(scene, pair.directory, "MPI_Comm_dup"), {0: 1}, "calls around it")


@case(ranks=1)
def descriptors_that_the_program_closes_or_takes_stay_the_programs(scene):
    for store in STORES:
        pair = Pair(scene, ["middle:close_files", "middle:dup2_over", "after:check_files"], env={"MPIPROF_STORE": store})
        pair.unchanged().counts()  # MPICH itself closes a number that it had: the program says so in both runs


@case(ranks=1, tier="full")
def each_way_to_lose_our_descriptor_harms_nobody(scene):
    for pair in pairs(scene, ["middle:close_files after:check_files", "middle:dup2_over after:check_files",
                              "before:close_all middle:dup2_over end:close_files after:check_files"]):
        pair.unchanged().counts()  # MPICH itself closes a number that it had: the program says so in both runs


@case(ranks=1, tier="full")
def working_directory_may_go_anywhere(scene):
    """After MPI_Init it is of no interest."""
    for pair in pairs(scene, ["middle:chdir_root", "middle:remove_cwd", "middle:deep_cwd=5000"]):
        pair.unchanged().counts().state("finalized")


@case(ranks=1, tier="full")
def odd_umask_and_long_or_blank_paths_are_fine(scene):
    for pair in pairs(scene, ["before:umask", "before:deep_cwd=3900"]):
        pair.unchanged()
        if "before:umask" in pair.acts:
            pair.counts()
        else:
            found = [p for p in pair.directory.rglob("mpi_profile.*.0")]
            same(len(found), 1, "profiles far down")
            pair.counts(directory=found[0].parent)
    for store in STORES:
        env = {"MPIPROF_STORE": store, "MPIPROF_DIR": scene.dir / f"a b\tc {store}", "PBS_JOBID": "47/11\n12 13.sdb"}
        pair = Pair(scene, ["middle:chdir_root"], name=f"blank {store}", env=env)
        pair.unchanged().counts(directory=env["MPIPROF_DIR"])
        same([p.name for p in scene.profiles(env["MPIPROF_DIR"])], ["mpi_profile.47_11_12_13.0"], "name of the profile")


@case(ranks=1)
def directory_that_refuses_is_replaced_and_said_once(scene):
    """Gone before MPI_Init: the next of $PBS_O_WORKDIR, $SLURM_SUBMIT_DIR, $TMPDIR and /tmp that takes the profile."""
    for store in STORES:
        elsewhere = scene.subdir(f"elsewhere.{store}")
        env = {"MPIPROF_STORE": store, "PBS_O_WORKDIR": "/proc/no/such/place", "TMPDIR": elsewhere}
        pair = Pair(scene, ["before:remove_cwd"], env=env).unchanged(lines=1)
        check(str(elsewhere) in pair.ours.err, f"the line does not say where the profile is: {pair.ours.err}")
        pair.counts(directory=elsewhere).unchanged(lines=1)


@case(mpis=("mpich",), ranks=1, tier="full")  # Open MPI's ranks cannot change their user
def directory_without_permission_is_replaced_and_said_once(scene):
    """Read-only, and without permission to enter it, for somebody who is not root."""
    if os.getuid() != 0:
        raise Skip("needs root, to become somebody else")
    for store in STORES:
        for mode in (0o555, 0o000):
            with OpenPlace() as place:
                elsewhere = place / "elsewhere"
                elsewhere.mkdir()
                os.chmod(elsewhere, 0o777)
                runs = []
                for profiled in (False, True):
                    directory = place / f"job{profiled}"
                    directory.mkdir()
                    os.chmod(directory, mode)
                    env = {"MPIPROF_STORE": store, "SLURM_SUBMIT_DIR": elsewhere}
                    # Started a moment after the file that stands for the terminal was made: nobody can look at its parent's.
                    later = ["sh", "-c", 'sleep 0.05; "$@"; exit $?', "sh"]
                    runs.append(scene.alone([*later, program(scene), CALLS, "before:nobody"], profiled=profiled, env=env, cwd=directory))
                plain, ours = runs
                what = f"directory of mode {mode:o}, {store}"
                same((ours.code, ours.out, plain.code), (0, plain.out, 0), f"exit code and stdout, {what}\n{ours.err}")
                check(len(our_lines(ours)) == 1 and str(elsewhere) in ours.err, f"stderr, {what}: {ours.err}")
                same(count_of(scene, elsewhere), {0: CALLS}, f"calls, {what}")


@case(ranks=1, tier="full")
def end_while_the_helper_writes_is_clean(scene):
    """The helper thread is awake almost always, and wakes while the program is at its end."""
    for number in range(12):
        end = ("", "end:exit=5", "end:_exit=5", "end:atexit=5")[number % 4]
        pair = Pair(scene, end.split(), name=str(number), env={"MPIPROF_STORE": "written", "MPIPROF_PERIOD": "0.001"}, calls=2000).unchanged()
        if end != "end:_exit=5":
            pair.counts()


LIMITS = ("middle:fsize=0", "middle:fsize=70000", "middle:nofile=12", "middle:as=8", "middle:as=500", "middle:stack=128",
          "before:fsize=0", "before:fsize=70000")


@case(ranks=1)
def file_size_limit_ends_the_profile_and_not_the_program(scene):
    for store in STORES:
        Pair(scene, ["middle:fsize=4096"], env={"MPIPROF_STORE": store}).unchanged(lines=None)


@case(ranks=1, tier="full")
def small_limits_never_end_the_program(scene):
    """Where the profile could be kept, it is exact; where it could not, one line says so."""
    for pair in pairs(scene, LIMITS):
        pair.unchanged(lines=None)
        if pair.plain.code == 0 and not our_lines(pair.ours):
            pair.counts()


REFUSALS = ("no_mmap", "no_mmap_at_all", "no_fallocate", "no_pwrite", "no_madvise", "no_create")


@case(ranks=1, tier="full")
def refused_system_calls_never_end_the_program(scene):
    for pair in pairs(scene, [f"middle:{name}" for name in REFUSALS] + ["before:no_fallocate", "before:no_madvise", "before:no_pwrite",
                                                                    "before:no_clone", "before:no_clone3"]):
        pair.unchanged(lines=None)
        if pair.plain.code == 0 and not our_lines(pair.ours):
            pair.counts()


@case(ranks=1)
def calls_before_init_and_after_finalize_are_forwarded(scene):
    for pair in pairs(scene, ["before:early_calls after:late_calls"], stores=("mapped",)):
        pair.unchanged().counts().state("finalized")
