"""Ranks in containers with PID namespaces of their own: the launcher cannot be seen there, and numbers of processes are
others' outside. Who belongs to which launch, and who lives, is right all the same."""

import re
import time

from acts import CALLS, Running, program
from harness import Skip, case, check, same

ALONE = ["unshare", "-pf", "--mount-proc"]


def namespaces(scene):
    if scene.tool("unshare") and scene.alone([*ALONE, "true"], profiled=False).code != 0:
        raise Skip("no PID namespaces can be made here")


def contained(scene, place, how, times, ranks=2):
    """`how` is what the launcher starts; "$@" in it is the program with the library."""
    argv = [*scene.launcher(ranks), "sh", "-c", how, "sh", "env", "LD_PRELOAD=" + scene.preload(), scene.compile("ring.c"), times]
    return scene.alone(argv, profiled=False, cwd=place, env={"OMPI_MCA_btl": "tcp,self"}).succeeded()


def whole_launches(scene, place, count, label):
    found = scene.run_report("check", cwd=place)
    check("has two profiles" not in found.out + found.err, f"{label}: a launch hides another\n{found.out}{found.err}")
    same(len(re.findall(r"\b2 +2 +2 finalized", found.out)), count, f"{label}: whole launches\n{found.out}{found.err}")


@case(ranks=2)
def launches_of_ranks_in_containers_are_told_apart_and_whole(scene):
    namespaces(scene)
    forms = {
        "rank is process 1": 'exec unshare -pf --mount-proc "$@"',
        "rank has a shell above it": """sleep 0.1${PMI_RANK:-$OMPI_COMM_WORLD_RANK}; exec unshare -pf --mount-proc sh -c '"$@"; exit $?' sh "$@\"""",
        "rank has no descriptor of its launcher's": 'exec env -u HYDI_CONTROL_FD unshare -pf --mount-proc sh -c \'"$@"; exit $?\' sh "$@"',
        "rank has other numbers above it": """exec unshare -pf --mount-proc sh -c 'for i in 1 2 3; do [ $i -gt ${PMI_RANK:-$OMPI_COMM_WORLD_RANK} ] || sleep 0; done; sh -c "true; \\"\\$@\\"; exit \\$?" sh "$@"; exit $?' sh "$@\"""",
    }
    for number, (label, how) in enumerate(forms.items()):
        place = scene.subdir(f"form{number}")
        for times in (50, 100):
            contained(scene, place, how, times)
        whole_launches(scene, place, 2, label)
        report = scene.run_report(cwd=place)
        check("INCOMPLETE" not in report.out, f"{label}:\n{report.out}")


@case(ranks=1)
def rank_that_lives_in_a_container_is_not_called_dead_outside(scene):
    """Its number is that of another process here, which began at another time."""
    namespaces(scene)
    argv = [*ALONE, "env", "LD_PRELOAD=" + scene.preload(), "MPIPROF_PERIOD=0.1", program(scene), CALLS, "middle:pause=8000"]
    with Running(scene, argv, profiled=False):
        until = time.monotonic() + 30
        while not scene.profiles():
            check(time.monotonic() < until, "there is no profile")
            time.sleep(0.05)
        time.sleep(1)
        found = scene.run_report()
        check("running" in found.out and "killed" not in found.out, f"what is said of it:\n{found.out}{found.err}")
        print(found.out)
