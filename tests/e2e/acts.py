"""Runs programs/acts.c with and without the library and holds it to the three things that every fault case asks for:
the program's output and exit code are those without us, the counts in the profile are the program's, and at most one line
of ours is on stderr. Used by cases/faults_*.py, survival.py and loss.py."""

import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import time

from harness import Skip, check, end_session, same

STORES = ("mapped", "written")
CALLS = 600
OURS = "mpiprof: "


def program(scene):
    return scene.compile("acts.c", "-pthread", "-ldl")


def our_lines(ran):
    return [line for line in ran.err.splitlines() if line.startswith(OURS)]


def their_lines(ran):
    """Without the process ids in what Open MPI says: [host:4711]."""
    return [re.sub(r":\d+\]", ":PID]", line) for line in ran.err.splitlines() if not line.startswith(OURS)]


def count_of(scene, directory, call="MPI_Sendrecv"):
    """Calls per rank in the profiles of a directory."""
    return {rank: n for (rank, name), n in scene.calls(cwd=directory).items() if name == call}


def ranks_of(scene, directory):
    """{rank: what `export -f json` says of it}"""
    ran = scene.run_report("export", "-f", "json", cwd=directory).succeeded()
    return {rank["rank"]: rank for rank in json.loads(ran.out)["ranks"]}


class Running:
    """A job that a case ends: started in a session of its own, its output in files. `ready` waits until rank 0 has said
    its line, so that all calls are done."""

    def __init__(self, scene, argv, env=None, directory=None, profiled=True):
        self.directory = directory or scene.dir
        full = scene.environment(env)
        if profiled:
            full["LD_PRELOAD"] = scene.preload()
        with open(self.directory / "stdout", "wb") as out, open(self.directory / "stderr", "wb") as err:
            self.process = subprocess.Popen([str(a) for a in argv], cwd=self.directory, env=full, stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=err, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            end_session(self.process)

    def out(self):
        return (self.directory / "stdout").read_text(errors="replace")

    def err(self):
        return (self.directory / "stderr").read_text(errors="replace")

    def ready(self, seconds=60):
        until = time.monotonic() + seconds
        while "acts: " not in self.out():
            check(time.monotonic() < until and self.process.poll() is None, f"the job does not begin:\n{self.out()}{self.err()}")
            time.sleep(0.02)
        return self

    def end(self, number, seconds=60):
        self.process.send_signal(number)
        return self.process.wait(seconds)


def states(scene, directory):
    return {rank: described["state"] for rank, described in ranks_of(scene, directory).items()}


class Pair:
    """One list of acts, run without and with the library, each in a directory of its own."""

    def __init__(self, scene, acts, name=None, ranks=0, env=None, calls=CALLS, profiled="exported", place=None, timeout=60):
        self.scene, self.acts, self.calls, self.ranks = scene, list(acts), calls, max(ranks, 1)
        self.what = (" ".join(self.acts) or "no acts") + f" {env or ''}"
        name = name or "-".join(self.acts).replace(":", "_").replace("=", "")[:100] + (env or {}).get("MPIPROF_STORE", "")
        argv = [program(scene), calls, *self.acts]
        self.runs = []
        for kind in ("plain", "ours"):
            directory = pathlib.Path(place or scene.dir) / f"{name}.{kind}"
            directory.mkdir(parents=True)
            if ranks or scene.mpi == "openmpi":  # a singleton of Open MPI has a daemon, which would inherit what acts do
                ran = scene.mpirun(self.ranks, argv, profiled=profiled if kind == "ours" else None, env=env, cwd=directory, timeout=timeout)
            else:
                ran = scene.alone(argv, profiled=kind == "ours", env=env, cwd=directory, timeout=timeout)
            if ran.code == 77:
                raise Skip(ran.err.strip().splitlines()[-1])
            self.runs.append((ran, directory))
        (self.plain, _), (self.ours, self.directory) = self.runs

    def unchanged(self, lines=0):
        """Same exit code and output; and exactly so many lines of ours (None: one or none)."""
        same(self.ours.code, self.plain.code, f"exit code, {self.what}\n{self.ours.err[-3000:]}")
        same(sorted(self.ours.out.split("\n")), sorted(self.plain.out.split("\n")), f"stdout, {self.what}")
        said = our_lines(self.ours)
        check(len(said) <= 1 if lines is None else len(said) == lines, f"lines of ours, {self.what}: {said}")
        if self.plain.code == 0:
            same(their_lines(self.ours), their_lines(self.plain), f"stderr, {self.what}")
        return self

    def counts(self, expected=None, directory=None):
        """Every rank's profile has every call (or `expected` of them)."""
        expected = self.calls if expected is None else expected
        same(count_of(self.scene, directory or self.directory), {rank: expected for rank in range(self.ranks)}, f"calls, {self.what}")
        return self

    def state(self, expected):
        same(set(states(self.scene, self.directory).values()), {expected}, f"state, {self.what}")
        return self


class OpenPlace:
    """A directory that anybody may enter and write to, for programs that stop being root; gone afterwards."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="mpiprof-test-"))
        os.chmod(self.path, 0o777)
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


class Tally:
    """What acts.c counted itself, in memory that outlives it."""

    def __init__(self, path):
        data = path.read_bytes()
        self.begun, self.done, self.first_ns, self.last_ns = struct.unpack_from("<4Q", data)
        self.at = struct.unpack_from(f"<{(len(data) - 32) // 8}Q", data, 32)

    def seconds_since(self, count):
        """How long before the last call the program had done so many: what a profile with that count has lost. Exact to
        10 ms, rounded up."""
        for slot, done in enumerate(self.at):
            if done > count:
                return (self.last_ns - self.first_ns) / 1e9 - slot * 0.01
        return 0.0
