"""Whatever ends the job, the profile is there."""

import os
import pathlib
import shutil
import subprocess
import tempfile

from harness import Skip, case, check, same

MAPPED_ON = {"ext2/ext3", "ext4", "xfs", "tmpfs"}


def mapped_directories(scene):
    """Directories on file systems where the profile is a mapping: the work tree's, if so, and shared memory."""
    found = []
    for parent in (scene.dir, pathlib.Path("/dev/shm")):
        kind = subprocess.run(["stat", "-f", "-c", "%T", parent], stdout=subprocess.PIPE, text=True).stdout.strip()
        if kind in MAPPED_ON and os.access(parent, os.W_OK):
            found.append((kind, tempfile.mkdtemp(prefix="mpiprof-test-", dir=parent)))
    return found


@case(ranks=2)
def kill_9_keeps_the_mapped_profile(scene):
    ring = scene.compile("ring.c")
    scene.needs_exit_codes()
    directories = mapped_directories(scene)
    if not directories:
        raise Skip("no directory on ext4, xfs or tmpfs to write to")
    try:
        for kind, directory in directories:
            directory = pathlib.Path(directory)
            ran = scene.mpirun(2, [ring, 1000, "kill9"], cwd=directory)
            check(ran.code != 0, "the job was to be killed")
            calls = scene.calls(cwd=directory)
            same({key: n for key, n in calls.items() if key[1] == "MPI_Sendrecv"},
                 {(0, "MPI_Sendrecv"): 1000, (1, "MPI_Sendrecv"): 1000}, f"calls in the profiles on {kind}")
            summary = scene.run_report(cwd=directory)
            same(summary.code, 0, "exit code of the report")
            check("complete" not in summary.out or "not complete" in summary.out or "incomplete" in summary.out,
                  f"the report calls the profile of a killed job complete:\n{summary.out}")
    finally:
        for _, directory in directories:
            shutil.rmtree(directory, ignore_errors=True)


@case(ranks=2)
def profile_survives_every_way_to_die(scene):
    ring = scene.compile("ring.c")
    for how in ("exit5", "abort7", "segv"):
        directory = scene.subdir(how)
        scene.mpirun(2, [ring, 200, how], cwd=directory)
        calls = scene.calls(cwd=directory)
        same({key: n for key, n in calls.items() if key[1] == "MPI_Sendrecv"},
             {(0, "MPI_Sendrecv"): 200, (1, "MPI_Sendrecv"): 200}, f"calls after {how}")
