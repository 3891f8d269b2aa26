#!/usr/bin/env python3
"""Runs clang-tidy with the checks of .clang-tidy.

tidy.py ROOT BUILD          over each source of libmpiprof that BUILD/compile_commands.json compiles
tidy.py ROOT --planted      a planted fault is found, and a sound file passes

The symbols (libmpiprof/mpi/symbols) are left out: the same templates some thousand times. Ends with 77 (skipped)
and says so where clang-tidy is not there.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SKIPPED = 77
NAMES = ("clang-tidy-14", "clang-tidy")
SOUND = "double half(int n) { return n / 2.0; }\n"
FAULT = "double half(int n) { return n / 2; }\n"


def sources_in(root, build):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as commands:
        files = {os.path.realpath(entry["file"]) for entry in json.load(commands)}
    room = os.path.join(os.path.realpath(root), "libmpiprof") + os.sep
    return sorted(path for path in files if path.startswith(room) and "/mpi/symbols/" not in path)


def run(tidy, arguments):
    """What clang-tidy found fault with: lines that name a check."""
    result = subprocess.run([tidy, "--quiet", *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    found = [line for line in result.stdout.splitlines() if "error:" in line or "warning:" in line]
    return found if found or result.returncode == 0 else ["%s: %s" % (arguments[-1], result.stderr.strip())]


def planted(tidy, root):
    with tempfile.TemporaryDirectory() as here:
        shutil.copy(os.path.join(root, ".clang-tidy"), here)
        found = []
        for text in (SOUND, FAULT):
            path = os.path.join(here, "half.cpp")
            with open(path, "w", encoding="utf-8") as source: source.write(text)
            command = [tidy, "--quiet", path, "--", "-std=c++20"]
            found.append(subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    if found[0].strip(): return "a sound file is found fault with:\n" + found[0]
    if "bugprone-integer-division" not in found[1]: return "the planted fault is not found:\n" + found[1]
    return 0


def main(root, build):
    tidy = next(filter(None, map(shutil.which, NAMES)), None)
    if not tidy:
        print("clang-tidy is not installed")
        return SKIPPED
    if build == "--planted": return planted(tidy, root)
    sources = sources_in(root, build)
    if len(sources) < 50: return "only %d sources of libmpiprof are in compile_commands.json" % len(sources)
    with ThreadPoolExecutor(os.cpu_count() or 1) as workers:
        found = {line for lines in workers.map(lambda path: run(tidy, ["-p", build, "--extra-arg=-fconstexpr-steps=10000000", path]), sources) for line in lines}
    for line in sorted(found): print(line.replace(os.path.realpath(root) + os.sep, ""))
    print("%d files, %d faults" % (len(sources), len(found)))
    return 1 if found else 0


if __name__ == "__main__": sys.exit(main(*sys.argv[1:]))
