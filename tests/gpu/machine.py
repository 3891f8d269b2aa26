"""The machine that tests/gpu/run runs its stages on: how they start programs, what they find wrong, and how they read profiles."""

import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from tables import Tables  # noqa: E402

TIME_LIMIT = 90  # seconds for one program: two ranks on one GPU may hang


class Wrong(Exception):
    """A stage's result is not what it should be."""


class Skip(Exception):
    """A stage cannot run here."""


def check(condition, text):
    if not condition: raise Wrong(text)


class Machine:
    def __init__(self, arguments):
        self.library = arguments.library.resolve()
        self.recorder = (arguments.recorder or arguments.library.with_name("libmpiprof-recorder.so")).resolve()
        self.out = arguments.out.resolve()
        self.python = arguments.python
        self.mpi = arguments.mpi
        self.report = arguments.report and arguments.report.resolve()
        self.figures = {}

    def execute(self, command, env, limit=TIME_LIMIT):
        """What it printed; ends it with all its children when it takes too long."""
        process = subprocess.Popen([str(word) for word in command], env={**os.environ, **env}, cwd=env["PWD"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            raise Wrong(f"no end after {limit} s: {' '.join(map(str, command))}") from None
        check(process.returncode == 0, f"exit code {process.returncode}: {err.strip()[-600:]}")
        return out

    def torchrun(self, name, script, ranks=1, settings=None, preload=True):
        """Profiles of a run, by rank, and the JSON that it printed."""
        directory = self.out / name
        directory.mkdir(parents=True)
        env = {"PWD": str(directory), "OMP_NUM_THREADS": "1", **(settings or {})}
        if preload: env["LD_PRELOAD"] = str(self.library)
        out = self.execute([self.python, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", *script], env)
        told = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        profiles = {int(p.name.split(".")[-1]): Tables(p) for p in directory.glob("mpi_profile.*") if not p.name.endswith(".txt")}
        check(sorted(profiles) == list(range(ranks if preload else 0)), f"profiles of ranks {sorted(profiles)} in {directory}")
        return profiles, told[0] if told else {}

    def scene(self, name, steps, settings=None, ranks=1, preload=True, label=None):
        return self.torchrun(label or name, [HERE / "scenes.py", name, steps], ranks, settings, preload)


def same_calls(tables, told):
    calls = tables.calls()
    for name, made in told["made"].items():
        if isinstance(made, list): check(list(calls.get(name, ())) == made, f"{name}: {calls.get(name)} in the profile, {made} made")


def source_of(tables):
    return tables.facts().get("gpu_times", ["nothing"])[-1]


def gpu_ns(tables, call):
    found = [t for t in tables.times() if t.call == call and not t.flags]
    return sum(t.ns for t in found), sum(t.operations for t in found)
