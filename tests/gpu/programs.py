"""Stages of tests/gpu/run that run whole programs: trainings counted by PyTorch's flight recorder, ranks that hang, NCCL that is opened
by dlopen. What a reader is told is asked of mpiprof-report, where --report names one."""

import json
import os
import pathlib
import signal
import subprocess
import time

from machine import HERE, Skip, Tables, check, gpu_ns, source_of

# What the summary's first sentence has to have, of each scene of stuck.py: with the line of the script.
HANGS = {"skipped_collective": ("Rank 0", "ncclAllReduce (stuck.py:"), "order": ("Deadlock", "ncclAllReduce (stuck.py:", "ncclAllGather (stuck.py:"),
         "peers": ("ncclRecv (stuck.py:", "ncclSend"), "exited": ("Deadlock", "ncclAllReduce (stuck.py:")}


def trainings(machine):
    """FSDP, DDP with GPT-2, a pipeline: calls and bytes as PyTorch's flight recorder has them."""
    figures = {}
    for name, steps in (("fsdp", 10), ("ddp_gpt2", 10), ("pipeline", 10)):
        directory = machine.out / name
        directory.mkdir()
        env = {"PWD": str(directory), "OMP_NUM_THREADS": "1", "LD_PRELOAD": str(machine.library)}
        out = machine.execute([machine.python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", HERE / "training.py", name, steps], env)
        for line in filter(lambda line: line.startswith("{"), out.splitlines()):
            told = json.loads(line)
            path, = directory.glob(f"mpi_profile.*.{told['rank']}")
            tables = Tables(path)
            calls = {call: list(counts) for call, counts in tables.calls().items() if call in told["made"]}
            figures[f"{name}.{told['rank']}"] = {"made": told["made"], "seen": calls, "gpu_times": source_of(tables)}
    wrong = [who for who, figure in figures.items() if figure["made"] != figure["seen"]]
    check(not wrong, f"calls of {wrong} differ: {json.dumps(figures)}")
    return figures


def ranks_by_hand(machine, directory, script, port, settings):
    """Two processes under env://, each with its own output files."""
    directory.mkdir()
    processes = []
    for rank in range(2):
        env = {**os.environ, "PWD": str(directory), "RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1",
               "MASTER_PORT": str(port), "PYTHONUNBUFFERED": "1", **settings}
        streams = [open(directory / f"{kind}.{rank}", "wb") for kind in ("out", "err")]  # pylint: disable=consider-using-with
        processes.append(subprocess.Popen([machine.python, *map(str, script)], env=env, cwd=directory, stdout=streams[0], stderr=streams[1], start_new_session=True))
    return processes


def wait_until(condition, limit):
    end = time.monotonic() + limit
    while not condition() and time.monotonic() < end: time.sleep(0.1)
    return condition()


def report(machine, directory, *words):
    said = subprocess.run([str(machine.report), *words, str(directory)], capture_output=True, text=True, check=False, timeout=60)
    check(said.returncode == 0, f"{words}: {said.returncode}, {said.stderr}")
    return said.stdout


def hangs(machine):
    """Ranks that hang on the GPU and are killed: what is proven is the summary's first sentence."""
    figures = {}
    for turn, name in enumerate([*HANGS, "replays"]):
        directory = machine.out / f"hangs_{name}"
        processes = ranks_by_hand(machine, directory, [HERE / "stuck.py", name], 29500 + turn, {"LD_PRELOAD": str(machine.library)})
        came = wait_until(lambda d=directory: all((d / f"out.{rank}").read_text().count("here") for rank in range(2)), 60)
        time.sleep(2.5)
        for process in processes: os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
        for process in processes: process.wait()
        check(came, f"{name}: {[(directory / f'err.{rank}').read_text()[-300:] for rank in range(2)]}")
        if machine.report: figures[name] = " ".join(report(machine, directory, "--width", "160").split("\n\n")[0].split())
    if not machine.report: raise Skip("--report names no mpiprof-report; the profiles lie in hangs_*")
    lacking = [name for name, words in HANGS.items() if not all(word in figures[name] for word in words)]
    check(not lacking, f"not said of {lacking}: {json.dumps(figures)}")
    return figures


def opened(machine):
    """JAX and CuPy, with the library alone and with libmpiprof-dlsym.so: every reduction, with its time on the GPU."""
    both = f"{machine.library}:{machine.library.with_name('libmpiprof-dlsym.so')}"
    ways = {"alone": {"LD_PRELOAD": str(machine.library)}, "dlsym": {"LD_PRELOAD": both}}
    figures = {}
    for turn, (program, (way, settings)) in enumerate((program, item) for program in ("jax", "cupy") for item in ways.items()):
        directory = machine.out / f"opened_{program}_{way}"
        processes = ranks_by_hand(machine, directory, [HERE / "opened.py", program, "20"], 29600 + turn, settings)
        ended = wait_until(lambda p=processes: all(process.poll() is not None for process in p), 60)
        for process in processes: os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
        codes = [process.wait() for process in processes]
        error = (directory / "err.0").read_text()
        if "ModuleNotFoundError" in error: continue
        check(ended and codes == [0, 0], f"{program} {way}: {codes}, {error[-400:]}")
        made = json.loads((directory / "out.0").read_text())["ncclAllReduce"]
        paths = sorted(path for path in directory.glob("mpi_profile.*") if path.suffix != ".txt")
        tables = {path.name.split(".")[-1]: Tables(path) for path in paths}
        seen = {rank: list(table.calls().get("ncclAllReduce", ())) for rank, table in tables.items()}
        check(seen == {"0": made, "1": made}, f"{program} {way}: {seen} in {[path.name for path in paths]}, {made} made")
        timed = {rank: gpu_ns(table, "ncclAllReduce")[1] for rank, table in tables.items()}
        figures[f"{program}.{way}"] = {"reductions": made[0], "with_a_time": timed, "gpu_times": source_of(tables["0"])}
    return figures


STAGES = (trainings, hangs, opened)
