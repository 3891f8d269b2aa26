#!/usr/bin/env python3
"""Replays recordings of NCCL and CUPTI (tests/gpu/recordings) where there is neither: what the library books of them has to be what
lies beside each as <recording>.expected.

replay.py --players DIR --library FILE RECORDING ...            holds each, or each in a folder, to its expectation
replay.py --players DIR --library FILE --write RECORDING ...    writes the expectations anew, to be looked at before they are committed
replay.py --players DIR --library FILE --damaged RECORDING      what is cut, or of another version, is refused in one line

--players: where play_nccl and play_cupti lie; of a build, tests/gpu. --library: libmpiprof.so.
"""

import argparse
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from tables import Tables  # noqa: E402


class Refused(Exception):
    """A player ended otherwise than it should."""


def run(command, directory):
    # Nothing of a launcher's or of the user's settings: who the process is, NCCL has told.
    env = {"PATH": os.environ.get("PATH", ""), "MPIPROF_JOB": "replay"}
    ran = subprocess.run([str(word) for word in command], cwd=directory, env=env, capture_output=True, text=True, timeout=100, check=False)
    if ran.returncode != 0 or ran.stderr: raise Refused(ran.stderr or f"exit code {ran.returncode} of {command[0]}\n")
    return ran.stdout


def told_by_nccl(tables):
    """Lines of what the profile says of NCCL's operations."""
    yield from (f"communicator of {size}, this is rank {rank}" for size, rank in tables.communicators())
    yield from (f"{call}: {calls}, {size} bytes" for call, (calls, size) in sorted(tables.calls().items()))
    for (call, algorithm, protocol, channels), (operations, size) in sorted(tables.chosen().items()):
        yield f"{call} by {algorithm or '-'} {protocol or '-'}, {channels} channels: {operations}, {size} bytes"


def replay(recording, players, library):
    """What the library books of it."""
    with tempfile.TemporaryDirectory() as directory:
        by_cupti = run([players / "play_cupti", recording], directory)
        run([players / "play_nccl", recording, library], directory)
        profiles = [path for path in pathlib.Path(directory).glob("mpi_profile.*") if path.suffix != ".txt"]
        if len(profiles) != 1: raise Refused(f"{recording}: {len(profiles)} profiles\n")
        return "".join(f"{line}\n" for line in told_by_nccl(Tables(profiles[0]))) + by_cupti


def recordings_in(paths):
    for path in paths:
        found = sorted(path.iterdir()) if path.is_dir() else [path]
        yield from (file.resolve() for file in found if file.suffix != ".expected")


def hold(recording, options):
    """False: what is booked is something else than expected."""
    booked = replay(recording, options.players, options.library)
    expected = recording.with_name(recording.name + ".expected")
    if options.write:
        expected.write_text(booked)
        print(f"{expected}:\n{booked}", end="")
        return True
    wanted = expected.read_text() if expected.exists() else ""
    sys.stdout.writelines(difflib.unified_diff(wanted.splitlines(True), booked.splitlines(True), f"{expected}", "booked"))
    return booked == wanted


def damaged(recording, options):
    """Each damage: what becomes of the lines, and what is said of it."""
    lines = recording.read_text().splitlines(True)
    first_init = next(i for i, line in enumerate(lines) if line.startswith("init"))
    first_start = next(i for i, line in enumerate(lines) if line.startswith("start"))
    words = lines[first_start].split()
    damages = {
        "cut behind a line": (lines[:-1], f":{len(lines) - 1}: is cut: the last line, \"done\", is missing"),
        "cut within a line": ([*lines[:first_start], lines[first_start][:12]], f":{first_start + 1}: a number is missing"),
        "empty": ([], ": is not a recording of version 1: it begins with \"\""),
        "of another version": (["mpiprof-recording 2\n", *lines[1:]], ": is not a recording of version 1: it begins with \"mpiprof-recording 2\""),
        "a line less": (lines[:2] + lines[3:] if first_init != 2 else lines[:-2] + lines[-1:], f":{len(lines) - 1}: lines are missing"),
        "no communicator": ([*lines[:first_init], "cupti 0 -1\n", *lines[first_init + 1:]], f":{first_start + 1}: a context that has not begun"),
        "bytes that are none": ([*lines[:first_start], " ".join([*words[:5], "xy"]) + "\n", *lines[first_start + 1:]],
                                f":{first_start + 1}: what should be bytes is not"),
        "a pointer outside": ([*lines[:first_start], " ".join([*words[:6], "9999&"]) + "\n", *lines[first_start + 1:]],
                              f":{first_start + 1}: a pointer outside of the descriptor"),
        "of NCCL's interface 7": ([*lines[:first_init], lines[first_init].replace(" " + lines[first_init].split()[3] + " ", " 7 ", 1), *lines[first_init + 1:]],
                                  f":{first_init + 1}: a version of NCCL's interface that is not 1 to 6"),
    }
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        for name, (text, expected) in damages.items():
            path = pathlib.Path(directory) / "rank.0"
            path.write_text("".join(text))
            for player in ("play_cupti", "play_nccl"):
                command = [options.players / player, path, *([options.library] if player == "play_nccl" else [])]
                ran = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=100, check=False)
                is_right = (ran.returncode, ran.stdout, ran.stderr) == (1, "", f"{path}{expected}\n")
                wrong += not is_right
                if not is_right: print(f"{name}: {player} ends with {ran.returncode} and says {ran.stdout + ran.stderr!r}, not {expected!r}")
    return wrong == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=pathlib.Path, required=True)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--damaged", action="store_true")
    parser.add_argument("recordings", type=pathlib.Path, nargs="+", metavar="RECORDING")
    options = parser.parse_args()
    options.players, options.library = options.players.resolve(), options.library.resolve()
    try:
        results = [damaged(recording, options) if options.damaged else hold(recording, options) for recording in recordings_in(options.recordings)]
    except Refused as refused:
        print(refused, end="")
        return 1
    if not results: print("there is no recording")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
