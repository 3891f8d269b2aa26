"""Traces: the last calls of each rank as a timeline, with an arrow from each send to its receive."""

import collections
import json
import os
import struct
import time

from acts import our_lines
from cases.faults_storage import on_small_disk
from cases.nccl import run as run_nccl
from harness import Skip, case, check, execute, same

STEPS = 40
# Of one rank; polls and queries are not all there.
OF_STEP = {"MPI_Irecv": 2, "MPI_Isend": 2, "MPI_Waitall": 1, "MPI_Sendrecv": 1, "MPI_Send": 1, "MPI_Recv": 1, "MPI_Wait": 1, "MPI_Allreduce": 1}
AT_END = {"MPI_Startall": 3, "MPI_Waitall": 3, "MPI_Isend": 1, "MPI_Mprobe": 1, "MPI_Mrecv": 1, "MPI_Wait": 1, "MPI_Send": 2, "MPI_Barrier": 1}
MESSAGES_OF_STEP, MESSAGES_AT_END = 4, 4  # that each rank sends


class Timeline:
    """What `export -f perfetto` wrote, checked for what every such file has to be."""

    def __init__(self, text, said):
        self.said = said
        self.events = json.loads(text)["traceEvents"]
        self.names = {e["pid"]: e["args"]["name"] for e in self.events if e["name"] == "process_name"}
        self.tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in self.events if e["name"] == "thread_name"}
        self.slices = [e for e in self.events if e["ph"] == "X"]
        for e in self.slices:
            check(e["ts"] >= 0 and e["dur"] >= 0, f"times of {e}")
            check((e["pid"], e["tid"]) in self.tracks, f"a slice on a track without a name: {e}")
        self.by_track = collections.defaultdict(list)
        for e in self.slices:
            self.by_track[e["pid"], e["tid"]].append(e)
        for track in self.by_track.values():
            nest(track)
        ends = {"s": {}, "f": {}}
        for e in self.events:
            if e["ph"] in ends:
                check(e["id"] not in ends[e["ph"]], f"two ends of one arrow: {e}")
                ends[e["ph"]][e["id"]] = e
        same(sorted(ends["s"]), sorted(ends["f"]), "arrows that begin, and that end")
        self.arrows = [(self.slice_at(ends["s"][i]), self.slice_at(ends["f"][i])) for i in sorted(ends["s"])]
        self.early = {i: ends["s"][i]["ts"] - ends["f"][i]["ts"] for i in ends["s"]}  # microseconds
        self.backwards = [i for i, early in self.early.items() if early > 0]

    def slice_at(self, end):
        """The slice that is open there: where the arrow is drawn."""
        track = self.by_track[end["pid"], end["tid"]]
        around = [e for e in track if e["ts"] <= end["ts"] + 1e-6 and end["ts"] <= e["ts"] + e["dur"] + 1e-6]
        check(around, f"an arrow outside of every slice: {end}")
        return min(around, key=lambda e: e["dur"])

    def calls(self, rank):
        return collections.Counter(e["name"] for e in self.slices if e["pid"] == rank and self.is_call(e))

    def is_call(self, e):
        return self.tracks[e["pid"], e["tid"]] not in ("regions", "iterations")

    def on(self, rank, track):
        return [e for e in self.slices if e["pid"] == rank and self.tracks[e["pid"], e["tid"]] == track]


def nest(track):
    """Of two slices of a track, one contains the other or they do not touch."""
    open_ones = []
    for e in sorted(track, key=lambda e: (e["ts"], -e["dur"])):
        while open_ones and open_ones[-1] <= e["ts"] + 1e-6:
            open_ones.pop()
        check(not open_ones or e["ts"] + e["dur"] <= open_ones[-1] + 1e-6, f"a slice goes on behind the one that it began in: {e}")
        open_ones.append(e["ts"] + e["dur"])


def timeline(scene, cwd=None):
    ran = scene.run_report("export", "-f", "perfetto", cwd=cwd).succeeded()
    return Timeline(ran.out, ran.err)


def expected_calls(steps):
    return {name: OF_STEP.get(name, 0) * steps + AT_END.get(name, 0) for name in {**OF_STEP, **AT_END}}


def check_messages(found, ranks):
    for send, receive in found.arrows:
        same(receive["pid"], (send["pid"] + 1) % ranks, f"where the arrow of {send} ends")
        arrived = receive["args"].get("received_bytes", receive["args"].get("bytes", 0))
        # Startall sums up what it starts; a request's size is not in the call that completes it.
        if send["name"] != "MPI_Startall" and receive["name"] in ("MPI_Recv", "MPI_Sendrecv", "MPI_Mrecv"):
            same(arrived, send["args"]["bytes"], f"bytes of {send} and of {receive}")


@case(ranks=4)
def trace_has_every_call_and_an_arrow_for_every_message(scene):
    program = scene.compile("traced.c")
    plain = scene.mpirun(3, [program, STEPS], profiled=None).succeeded()
    for name, env in (("mapped", {}), ("written", {"MPIPROF_STORE": "written", "MPIPROF_CLOCK": "mono"})):
        directory = scene.subdir(name)
        ran = scene.mpirun(3, [program, STEPS], env={"MPIPROF_TRACE": "on", **env}, cwd=directory).succeeded()
        same((ran.out, ran.err), (plain.out, plain.err), f"{name}: what the program says")
        found = timeline(scene, directory)
        counted = scene.calls(cwd=directory, with_errors=True)
        for rank in range(3):
            calls = found.calls(rank)
            same(calls.pop("MPI_Test"), STEPS, f"{name}: polls that completed something")
            calls = {call: n for call, n in calls.items() if not call.startswith("MPI_Comm_") and not call.endswith(("_init", "_free"))}
            same(calls, expected_calls(STEPS), f"{name}: calls of rank {rank} in the trace")
            same(calls, {call: counted[rank, call] for call in calls}, f"{name}: and in the profile")
            check(found.names[rank].startswith(f"rank {rank} ("), f"{name}: {found.names}")
        same(len(found.arrows), 3 * (MESSAGES_OF_STEP * STEPS + MESSAGES_AT_END), f"{name}: arrows; {found.said}")
        check("messages have an arrow" in found.said and "the other end is not known" not in found.said, found.said)
        check_messages(found, 3)
        same(found.backwards, [], f"{name}: arrows back in time")
        check_collectives(found)
        check_regions(found)
        failed = [e for e in found.slices if e["args"].get("failed")]
        same([(e["pid"], e["name"]) for e in failed], [(rank, "MPI_Send") for rank in range(3)], f"{name}: calls that failed")


def check_collectives(found):
    """A collective's instance is in all its members at once."""
    instances = collections.defaultdict(list)
    for e in found.slices:
        if "instance" in e["args"]:
            instances[e["args"]["instance"]].append(e)
    same(len(instances), STEPS + 1, "instances of collectives")
    for name, members in instances.items():
        same(sorted(e["pid"] for e in members), [0, 1, 2], f"members of {name}")
        same(len({(e["name"], e["args"]["bytes"] if "bytes" in e["args"] else 0) for e in members}), 1, f"what {name} is: {members}")
        check(max(e["ts"] for e in members) <= min(e["ts"] + e["dur"] for e in members) + 1, f"when {name} was: {members}")


def check_regions(found):
    for rank in range(3):
        regions = found.on(rank, "regions")
        same(collections.Counter(e["name"] for e in regions), {"steps": 1, "exchange": STEPS}, f"regions of rank {rank}")
        whole = next(e for e in regions if e["name"] == "steps")
        check(all(whole["ts"] <= e["ts"] and e["ts"] + e["dur"] <= whole["ts"] + whole["dur"] + 1e-6 for e in regions), "exchange lies in steps")
        for e in found.slices:
            if found.is_call(e) and e["pid"] == rank and e["args"].get("region") == "exchange":
                check(any(o["name"] == "exchange" and o["ts"] <= e["ts"] <= o["ts"] + o["dur"] for o in regions), f"{e} lies in its region")
        same([e["args"]["items"] for e in found.on(rank, "iterations")], list(range(2, STEPS + 1)), f"iterations of rank {rank}")


@case(ranks=3, slow=("mpich",))
def trace_keeps_the_last_events_and_its_arrows_are_right(scene):
    program = scene.compile("traced.c")
    steps = 900
    scene.mpirun(3, [program, steps], env={"MPIPROF_TRACE": "500"}).succeeded()
    found = timeline(scene)
    for rank in range(3):
        calls = found.calls(rank)
        check(10 < calls["MPI_Allreduce"] < 60 and calls["MPI_Barrier"] == 1 and calls["MPI_Mrecv"] == 1, f"the last calls of rank {rank}: {calls}")
    check("older events of ranks 0, 1, 2 were overwritten by the last 1500" in found.said, found.said)
    check(len(found.arrows) > 3 * 4 * 20, f"{len(found.arrows)} arrows: {found.said}")
    check_messages(found, 3)
    same(found.backwards, [], "arrows back in time")


def wait_for_the_end_of_all(directory):
    """mpirun is back before the last of its ranks is dead; until then their profiles change."""
    def lives(pid):
        try:
            return os.readlink(f"/proc/{pid}/cwd") == str(directory)
        except OSError:
            return False  # it has ended since it was listed, or is nobody's but the kernel's

    deadline = time.monotonic() + 20
    while any(lives(pid) for pid in os.listdir("/proc") if pid.isdigit()):
        check(time.monotonic() < deadline, f"something still runs in {directory}")
        time.sleep(0.02)


@case(mpis=("openmpi",), ranks=3)
def trace_of_a_killed_job_is_there(scene):
    program = scene.compile("traced.c")
    launcher = scene.launcher(3) + ["bash", "-c", f"timeout -s KILL 4 {program} {STEPS} hang"]
    execute(launcher, cwd=scene.dir, env=scene.environment({"LD_PRELOAD": scene.preload(), "MPIPROF_STORE": "mapped", "MPIPROF_TRACE": "on"}))
    wait_for_the_end_of_all(scene.dir)
    found = timeline(scene)
    expected = {call: n for call, n in expected_calls(STEPS).items() if call != "MPI_Barrier"}  # it never returned
    for rank in range(3):
        calls = found.calls(rank)
        same({call: calls[call] for call in expected}, expected, f"calls of rank {rank}")
    same(len(found.arrows), 3 * (MESSAGES_OF_STEP * STEPS + MESSAGES_AT_END), f"arrows; {found.said}")


@case(ranks=2)
def job_without_a_trace_is_told_how_to_take_one(scene):
    program = scene.compile("ring.c")
    scene.mpirun(2, program).succeeded()
    ran = scene.run_report("export", "-f", "perfetto")
    same((ran.code, ran.out, ran.err), (1, "", "mpiprof-report: no rank has a trace; run the job with MPIPROF_TRACE=on\n"), "what is said")
    (scene.dir / "older.json").write_text("{}")
    same(scene.run_report("export", "-f", "perfetto", "-o", "older.json").code, 1, "the same into a file")
    same((scene.dir / "older.json").read_text(), "{}", "a file that was there before")
    scene.needs_two_programs()
    part = scene.subdir("part")
    program = scene.compile("traced.c")
    one = scene.environment({"LD_PRELOAD": scene.preload()})
    execute(scene.launcher(1) + ["env", "MPIPROF_TRACE=on", program, "3", ":", "-n", "2", program, "3"], cwd=part, env=one).succeeded()
    found = timeline(scene, part)
    same(sorted(found.names), [0], "ranks of the timeline")
    check("no trace of ranks 1, 2" in found.said, found.said)


@case(mpis=("openmpi",), ranks=2)
def chosen_functions_alone_are_traced(scene):
    program = scene.compile("traced.c")
    scene.mpirun(2, [program, "5"], env={"MPIPROF_TRACE": "1k", "MPIPROF_FUNCTIONS": "MPI_Sendrecv,MPI_Barrier"}).succeeded()
    found = timeline(scene)
    calls = {call: n for call, n in found.calls(0).items() if not call.startswith("MPI_Comm_") and not call.endswith(("_init", "_free"))}
    same(calls, {"MPI_Sendrecv": 5, "MPI_Barrier": 1}, "calls")
    same(len(found.arrows), 2 * 5, "arrows")


@case(mpis=("openmpi",), ranks=2)
def full_disk_makes_a_trace_shorter_and_says_so(scene):
    program = scene.compile("traced.c")
    argv = [*scene.launcher(2), "env", "MPIPROF_TRACE=1M", "MPIPROF_STORE=mapped", program, "200"]
    ran, place = on_small_disk(scene, "small", "8m", "true", argv, scene.environment(), True)
    same(ran.code, 0, f"exit code\n{ran.err}")
    same(len(our_lines(ran)), 1, f"lines of ours: {our_lines(ran)}")
    check("no room for a trace of 1000000 events: rank 0 keeps its last " in ran.err, ran.err)
    found = timeline(scene, place / "kept")
    check(found.calls(0)["MPI_Barrier"] == 1, f"the last calls are there: {found.calls(0)}")
    calls = scene.calls(cwd=place / "kept")
    same([calls[rank, "MPI_Allreduce"] for rank in range(2)], [200, 200], "and all that is counted")


SKEW_S = 2


def run_on_two_nodes(scene, directory, settings):
    """Rank 0 here, ranks 1 and 2 on a "node" of another name whose clocks are ahead."""
    program = scene.compile("traced.c")
    scene.needs_two_programs()
    unshare = ["unshare", "-u", "-T", "--fork", "--monotonic", SKEW_S]
    if scene.alone([*unshare, "true"], profiled=False).code != 0:
        raise Skip("no other host name and clock can be had here")
    elsewhere = [*map(str, unshare), "sh", "-c", 'hostname elsewhere; exec "$@"', "sh", "env", f"LD_PRELOAD={scene.preload()}"]
    here = ["env", "LD_PRELOAD=" + scene.preload()]
    argv = scene.launcher(1) + here + [program, STEPS, ":", "-n", "2", *elsewhere, program, STEPS]
    env = scene.environment({"MPIPROF_TRACE": "on", "MPIPROF_JOB": "nodes", **settings})
    return execute(argv, cwd=directory, env=env).succeeded()


def set_wall_clock_ahead(path, ns):
    """Nodes share the kernel's wall clock here: all of its readings in the header become later."""
    data, now = bytearray(path.read_bytes()), time.time_ns()
    changed = 0
    for at in range(0, 1024, 8):
        word, = struct.unpack_from("<Q", data, at)
        if abs(now - word) < 3600 * 1_000_000_000:
            struct.pack_into("<Q", data, at, word + ns)
            changed += 1
    check(changed >= 3, f"{changed} readings of the wall clock in the header of {path}")
    path.write_bytes(data)


@case(ranks=3)
def clocks_of_nodes_are_measured_where_the_user_asks_for_it(scene):
    directory = scene.subdir("measured")
    run_on_two_nodes(scene, directory, {"MPIPROF_CLOCK_OFFSETS": "on"})
    ranks = json.loads(scene.run_report("export", "-f", "json", cwd=directory).succeeded().out)["ranks"]
    errors = [0]
    for rank in ranks:
        facts = {fact["name"]: fact["value"] for fact in rank["facts"]}
        for name in ("clock_offset_at_start", "clock_offset_at_end"):
            _, offset, error = map(int, facts[name].split())
            errors.append(error)
            truth = -SKEW_S * 1_000_000_000 if rank["rank"] else 0
            check(abs(offset - truth) <= error, f"{name} of rank {rank['rank']}: {offset} +- {error}, should be {truth}")
    found = timeline(scene, directory)
    same(len(found.arrows), 3 * (MESSAGES_OF_STEP * STEPS + MESSAGES_AT_END), f"arrows; {found.said}")
    # A message may be faster than the clocks are known.
    check(max(found.early.values()) * 1000 <= max(errors), f"arrows back in time, by up to {max(found.early.values())} us; {found.said}")
    check("clocks were measured, to within " in found.said, found.said)
    check(max(e["ts"] for e in found.slices) < 45e6, "times are those of one clock")


@case(ranks=3)
def clocks_that_differ_are_said(scene):
    directory = scene.subdir("as_they_are")
    run_on_two_nodes(scene, directory, {})
    for path in scene.profiles(directory):
        if not path.name.endswith(".0"):
            set_wall_clock_ahead(path, SKEW_S * 1_000_000_000)
    found = timeline(scene, directory)
    check(len(found.backwards) > STEPS, f"{len(found.backwards)} arrows back in time; {found.said}")
    check("arrows go backwards in time" in found.said and "MPIPROF_CLOCK_OFFSETS=on measures them" in found.said, found.said)


@case(ranks=3)
def rank_that_is_not_recorded_takes_part_in_measuring_clocks(scene):
    program = scene.compile("traced.c")
    scene.mpirun(3, [program, "3"], env={"MPIPROF_TRACE": "on", "MPIPROF_CLOCK_OFFSETS": "on", "MPIPROF_RANKS": "1,2"}, timeout=100).succeeded()
    check("clocks were measured" in timeline(scene).said, "the others have their offsets")


@case(mpis=(), ranks=1)
def calls_of_nccl_are_on_the_timeline(scene):
    directory = scene.subdir("job")
    run_nccl(scene, "linked", "every", directory, {"MPIPROF_TRACE": "on"})
    ran = scene.run_report("export", "-f", "perfetto", str(directory)).succeeded()
    found = collections.Counter(e["name"] for e in json.loads(ran.out)["traceEvents"] if e["ph"] == "X")
    counted = collections.Counter()
    for (_, call, _), (calls, _) in scene.export(directory).items():
        counted[call] += calls
    for call in ("ncclAllReduce", "ncclBcast", "ncclSend", "ncclGroupEnd"):
        same(found[call], counted[call], f"{call} on the timeline, and in the profile")
        check(counted[call] > 0, f"no {call} at all")
