"""A helper thread never keeps rights that the program gave up, right after the call: libc changes it together with its own
threads, or there is none."""

import os
import re

from acts import STORES, our_lines
from harness import Skip, case, check, same

WAYS = ("setuid", "setgid", "setgroups", "initgroups", "setresuid", "seteuid", "back", "capset")


def ran_as_root(scene, how, store, ranks=1, env=None):
    if os.geteuid() != 0:
        raise Skip("only root can give rights up")
    place = scene.subdir(f"{how}.{store}")
    place.chmod(0o777)
    program = scene.compile("rights.c", "-ldl")
    # Linked with MPI even where it is not begun: the library is preloaded either way.
    argv = [*scene.launcher(ranks), "env", "LD_PRELOAD=" + scene.preload(), program, how]
    if how == "none":
        argv = ["env", "LD_PRELOAD=" + scene.preload(), program, how]
    return scene.alone(argv, profiled=False, env={"MPIPROF_STORE": store, "MPIPROF_PERIOD": "0.1", **(env or {})}, cwd=place), place


@case(ranks=1)
def helper_thread_gives_up_the_rights_that_the_program_gives_up(scene):
    for store in STORES:
        for how in WAYS:
            ran, place = ran_as_root(scene, how, store)
            same((ran.code, ran.out.splitlines()), (0, ["mpiprof 1"]), f"{how}, {store} store: exit code, and threads that are not as the program's\n{ran.err}")
            same(our_lines(ran), [], f"lines of ours, {how}, {store}")
            same(scene.calls(cwd=place).get((0, "MPI_Allreduce")), 20, f"calls, {how}, {store}")


@case(ranks=1)
def process_without_threads_that_may_change_its_rights_gets_none_and_the_report_says_so(scene):
    ran, place = ran_as_root(scene, "none", "written")
    same((ran.code, ran.out.splitlines()), (0, ["mpiprof 0"]), f"exit code and threads\n{ran.err}")
    report = scene.run_report(cwd=place).succeeded().out
    check(re.search(r"1 rank may become another user .* made none\s+there", re.sub(r"\s+", " ", report)), f"the report:\n{report}")
    same(our_lines(ran), [], "lines of ours")


@case(ranks=1)
def process_without_threads_that_cannot_change_its_rights_has_its_helper(scene):
    """As most jobs are: of a user without rights. And with a window in time, which only a helper can open."""
    setpriv = scene.tool("setpriv")
    if os.geteuid() != 0:
        raise Skip("only root can give rights up")
    place = scene.subdir("users")
    place.chmod(0o777)
    for parent in [place, *place.parents]:
        if not os.stat(parent).st_mode & 0o001:
            raise Skip(f"other users cannot look into {parent}")
    # Its setuid() is refused (exit code 3), which is what this is about; by then there is a helper.
    user = [setpriv, "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    env = {"MPIPROF_STORE": "written", "MPIPROF_PERIOD": "0.1"}
    ran = scene.alone([*user, "env", "LD_PRELOAD=" + scene.preload(), "sh", "-c", 'exec "$0" threads', scene.compile("rights.c", "-ldl")],
                      profiled=False, env=env, cwd=place)
    same((ran.code, ran.out.splitlines()), (0, ["mpiprof 1"]), f"exit code and threads\n{ran.err}")
    check("may become another user" not in scene.run_report(cwd=place).succeeded().out, "the report says that there was no helper")


@case(ranks=1)
def window_in_time_without_a_helper_is_all_of_the_run_and_said(scene):
    ran, place = ran_as_root(scene, "none", "written", env={"MPIPROF_BEGIN_TIME": "0.1"})
    same(ran.code, 0, f"exit code\n{ran.err}")
    said = our_lines(ran)
    check(len(said) == 1 and "all of the run is recorded" in said[0], f"lines of ours: {said}")
