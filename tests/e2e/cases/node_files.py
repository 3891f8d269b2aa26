"""A file a node (MPIPROF_FILES=node): exact as files of ranks are, whatever ends the job, with few system calls more."""

import os
import re
import time

from acts import CALLS, count_of, our_lines
from cases.faults_remote import end_of, remote_disk, start
from cases.several_nodes import Nodes
from cases.wrappers import script
from harness import Skip, case, check, execute, same

NODE = {"MPIPROF_FILES": "node"}
STORES = {"mapped": {}, "written": {"MPIPROF_PERIOD": "0.1"}}
RANK = '${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-$PMI_RANK}}'


def kinds(scene, directory):
    """How many files of nodes there are, and of ranks."""
    names = [path.name for path in scene.profiles(directory)]
    nodes = [name for name in names if re.fullmatch(r"mpi_profile\.[^.]+\.node[0-9a-f]{12}", name)]
    return len(nodes), len(names) - len(nodes)


def is_exact(scene, directory, ranks, calls, what):
    found = {key: n for key, n in scene.calls(cwd=directory).items() if key[1] == "MPI_Sendrecv"}
    same(found, {(rank, "MPI_Sendrecv"): calls for rank in range(ranks)}, f"calls in the profiles of {what}")


@case(ranks=8)
def ranks_of_a_node_share_one_file_that_says_what_files_of_ranks_say(scene):
    ring = scene.compile("ring.c")
    for store in STORES:
        directory = scene.subdir(store)
        ran = scene.mpirun(8, [ring, 500], cwd=directory, env={**NODE, "MPIPROF_STORE": store, "MPIPROF_VERBOSE": "1"}).succeeded()
        check("ring: 8 ranks, 500 calls" in ran.out, f"stdout is {ran.out!r}")
        check(".<node> (and .txt); read them with mpiprof-report" in ran.err, ran.err)
        same(kinds(scene, directory), (1, 0), f"files of nodes and of ranks ({store})")
        is_exact(scene, directory, 8, 500, store)
        summary = scene.run_report(cwd=directory).succeeded()
        check("profile complete: 8 of 8 ranks" in summary.out and summary.err == "", f"the report says\n{summary.out}{summary.err}")
        same(scene.run_report("check", "--strict", cwd=directory).code, 0, "exit code of check")
        # Given back as files of ranks they are the same job.
        scene.run_report("split", "-q", "-o", "split", cwd=directory).succeeded()
        split = directory / "split"
        same(kinds(scene, split), (0, 8), "files that split made")
        for words in (["calls", "--details"], ["ranks"], ["sites"], ["settings"], ["check"], ["text", "--rank", "all"], ["export", "-f", "csv"]):
            same(scene.run_report(*words, cwd=split).out, scene.run_report(*words, cwd=directory).out, f"{words[0]} of both forms")


@case(ranks=8)
def kill_9_keeps_the_profiles_in_the_nodes_file(scene):
    ring = scene.compile("ring.c")
    one = script(scene, "one.sh", f'#!/bin/sh\nhow=sleep\n[ "{RANK}" = 3 ] && how=kill9\nexec {ring} 1000 $how 1500\n')
    scene.needs_exit_codes()
    for store, env in STORES.items():
        for name, program in (("all", [ring, "1000", "kill9", "1500"]), ("one", [one])):
            directory = scene.subdir(f"{store}-{name}")
            ran = scene.mpirun(8, program, cwd=directory, env={**NODE, **env, "MPIPROF_STORE": store})
            check(ran.code != 0, "the job was to be killed")
            same(kinds(scene, directory), (1, 0), f"files of nodes and of ranks ({store}, {name})")
            is_exact(scene, directory, 8, 1000, f"{store}, {name} killed")
            summary = scene.run_report(cwd=directory).succeeded().out
            check("profile complete" not in summary, f"the report calls the profile of a killed job complete:\n{summary}")


@case(ranks=8)
def ranks_of_two_nodes_write_to_two_files(scene):
    ring = scene.compile("ring.c")
    node = script(scene, "node.sh", f'#!/bin/sh\nexport SLURM_JOB_ID=4711 SLURMD_NODENAME=nid$(({RANK} / 4))\nexec {ring} 200\n')
    scene.mpirun(8, [node], env=NODE).succeeded()
    same(kinds(scene, scene.dir), (2, 0), "files of nodes and of ranks")
    is_exact(scene, scene.dir, 8, 200, "two nodes")
    check("8 ranks on 2 nodes" in scene.run_report().succeeded().out, "the report does not know two nodes")
    # The next launch of the job takes nobody's file.
    scene.mpirun(8, [node], env=NODE).succeeded()
    same(kinds(scene, scene.dir), (4, 0), "files of nodes and of ranks of two launches")
    for launch in "1", "2":
        summary = scene.run_report("--launch", launch).succeeded().out
        check("profile complete: 8 of 8 ranks" in summary, f"launch {launch}:\n{summary}")


@case(ranks=4)
def ranks_that_cannot_have_a_range_keep_a_file_of_their_own(scene):
    ring = scene.compile("ring.c")
    local = "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"
    twice = "".join(f"export {name}=0\n" for name in local)
    none = "".join(f"unset {name}\n" for name in local)
    for name, text, files in (("twice", twice, (1, 3)), ("none", none, (0, 4)), ("bounded", "export MPIPROF_MAX_FILES=100\n", (0, 4))):
        directory = scene.subdir(name)
        program = script(scene, f"{name}.sh", f"#!/bin/sh\n{text}exec {ring} 100\n")
        scene.mpirun(4, [program], cwd=directory, env=NODE).succeeded()
        same(kinds(scene, directory), files, f"files of nodes and of ranks ({name})")
        is_exact(scene, directory, 4, 100, name)
        summary = scene.run_report(cwd=directory).succeeded()
        check("profile complete: 4 of 4 ranks" in summary.out and summary.err == "", f"{name}: {summary.out}{summary.err}")


def calls_on_profiles(scene, files):
    """By rank, the system calls that name a profile, as a path or behind a descriptor."""
    directory = scene.subdir(files)
    strace = ["strace", "-f", "-y", "-o"]
    program = script(scene, f"{files}.sh", f'#!/bin/sh\nexec {" ".join(strace)} {directory}/trace.{RANK} {scene.compile("ring.c")} 50\n')
    env = {"MPIPROF_FILES": files, "MPIPROF_STORE": "mapped", "MPIPROF_TEXT": "none"}
    scene.mpirun(4, [program], cwd=directory, env=env).succeeded()
    found = {}
    for rank in range(4):
        lines = (directory / f"trace.{rank}").read_text(errors="replace").splitlines()
        found[rank] = [line for line in lines if "mpi_profile." in line and "resumed" not in line]
    return found


@case(ranks=4)
def file_a_node_costs_six_system_calls_a_rank_at_most(scene):
    scene.tool("strace")
    if scene.alone(["strace", "-o", os.devnull, "true"], profiled=False).code != 0:
        raise Skip("strace cannot trace here")
    own, shared = calls_on_profiles(scene, "rank"), calls_on_profiles(scene, "node")
    for rank in range(4):
        check(own[rank] and shared[rank], f"no call of rank {rank} names a profile")
        more = len(shared[rank]) - len(own[rank]) + 1  # and whose file it is is asked without naming it: geteuid()
        print(f"rank {rank}: {len(own[rank])} calls on a file of its own, {more} more on the node's")
        check(more <= 6, "\n".join(shared[rank]))
        # Of the directory nothing is asked but the one open; nobody makes the file shorter.
        names, before = ([re.sub(r"^\d+ +", "", line).split("(")[0] for line in lines] for lines in (shared[rank], own[rank]))
        check(names.count("openat") <= before.count("openat"), f"opens of rank {rank}: {names}")
        check(not {"mkdir", "unlink", "unlinkat", "rename", "renameat", "link", "linkat", "ftruncate"} & set(names), f"of rank {rank}: {names}")


@case(ranks=64, tier="full")
def sixty_four_ranks_on_four_nodes_are_kept_whoever_is_killed(scene):
    sleepers = scene.compile("sleepers.c")
    node = script(scene, "node.sh", f'#!/bin/sh\nexport SLURM_JOB_ID=4711 SLURMD_NODENAME=nid$(({RANK} / 16))\nexec {sleepers} "$@"\n')
    for name, killed in (("nobody", []), ("one", ["21", "1"]), ("node", ["16", "16"]), ("all", ["0", "64"])):
        directory = scene.subdir(name)
        begun = time.monotonic()
        scene.mpirun(64, [node, "3", "100", *killed], cwd=directory, env={**NODE, "MPIPROF_STORE": "mapped"})
        print(f"{name} killed: {time.monotonic() - begun:.1f} s")
        same(kinds(scene, directory), (4, 0), f"files of nodes and of ranks ({name} killed)")
        found = {rank: n for (rank, call), n in scene.calls(cwd=directory).items() if call == "MPI_Ibarrier"}
        same(found, {rank: 3 for rank in range(64)}, f"barriers in the profiles ({name} killed)")
        summary = scene.run_report(cwd=directory).succeeded()
        check(("profile complete: 64 of 64 ranks" in summary.out) != bool(killed) and summary.err == "", f"{name}: {summary.out}{summary.err}")
        check("64 ranks on 4 nodes" in summary.out, summary.out)
        scene.run_report("split", "-q", "-o", "split", cwd=directory).succeeded()
        words = ["export", "-f", "csv"]
        same(scene.run_report(*words, cwd=directory / "split").out, scene.run_report(*words, cwd=directory).out, f"calls of both forms ({name} killed)")


@case(ranks=4, tier="full")
def two_nodes_without_a_scheduler_write_to_two_files(scene):
    ring = scene.compile("ring.c")
    with Nodes(scene) as nodes:
        program = ["env", f"LD_PRELOAD={scene.preload()}", "MPIPROF_FILES=node", ring, "50"]
        ran = execute([*nodes.launcher(scene, 2), *program], cwd=scene.dir, env=scene.environment(), timeout=120)
        if ran.code != 0:
            raise Skip(f"this mpirun does not reach a second node here: {ran.err[-500:]}")
        same(kinds(scene, scene.dir), (2, 0), "files of nodes and of ranks")
        is_exact(scene, scene.dir, 4, 50, "two nodes")
        summary = scene.run_report().succeeded().out
        check("profile complete: 4 of 4 ranks" in summary and "on 2 nodes" in summary, summary)


@case(ranks=4, tier="full")
def file_a_node_on_a_network_file_system_is_exact_and_an_error_costs_its_place_alone(scene):
    with remote_disk(scene, "fine") as (directory, below, fallback, obey):
        obey("delay 5")
        ran = end_of(start(scene, directory, fallback, ["middle:pause=300"], ranks=4, env=NODE))
        same((ran.code, our_lines(ran)), (0, []), f"exit code and lines of ours\n{ran.err}")
        same(kinds(scene, below), (1, 0), "files of nodes and of ranks")
        same(count_of(scene, below), {rank: CALLS for rank in range(4)}, "calls")
    with remote_disk(scene, "refuses") as (directory, below, fallback, obey):
        job = start(scene, directory, fallback, ["middle:pause=2000"], ranks=4, env=NODE)
        while not scene.profiles(below) and job.poll() is None: time.sleep(0.05)
        time.sleep(0.5)  # the first writes are 50 ms apart
        obey("write 5")
        ran = end_of(job)
        same((ran.code, len(our_lines(ran))), (0, 1), f"exit code and lines of ours\n{ran.err}")
        same(count_of(scene, fallback), {rank: CALLS for rank in range(4)}, "calls")
