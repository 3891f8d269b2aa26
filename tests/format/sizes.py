#!/usr/bin/env python3
"""Holds functions and files to the sizes that CONTRIBUTING.md names. Run by ctest; needs Universal Ctags.

sizes.py ROOT             names each function over 60 lines, each file over 400, and a median function over 6 lines
sizes.py ROOT --planted   a long function and a long file are found, and short ones pass

What is all data or layout is in DATA.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from format import sources

LONGEST_FUNCTION = 60
LONGEST_FILE = 400
MEDIAN = 6
SKIPPED = 77

DATA = {
    "libmpiprof/format/layout.h": "the layout of the file",
}


def find_ctags():
    for name in ("ctags-universal", "ctags"):
        path = shutil.which(name)
        if path and "Universal" in subprocess.run([path, "--version"], stdout=subprocess.PIPE, text=True).stdout: return path
    return None


def functions_in(ctags, root, paths):
    """(lines, path, name) of each function."""
    run = subprocess.run([ctags, "--output-format=json", "--fields=+ne", "--kinds-c++=f", "--kinds-c=f", "-f", "-", "-L", "-"], cwd=root,
                         input="\n".join(paths), stdout=subprocess.PIPE, text=True, check=True)
    tags = [json.loads(line) for line in run.stdout.splitlines()]
    return [(tag["end"] - tag["line"] + 1, tag["path"], tag["name"]) for tag in tags if "end" in tag]


def lines_of(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file: return sum(1 for _ in file)


def scripts(root):
    for folder in ("tests", "bench", "tools"):
        for directory, subdirectories, names in os.walk(os.path.join(root, folder)):
            subdirectories[:] = sorted(name for name in subdirectories if not name.startswith((".", "build", "__")))
            yield from (os.path.relpath(os.path.join(directory, name), root) for name in sorted(names) if name.endswith(".py"))


def too_long(root, ctags):
    """What is over its limit, as sentences."""
    paths = list(sources(root))
    functions = functions_in(ctags, root, paths)
    sizes = [("%s:%s" % (path, name), lines, LONGEST_FUNCTION) for lines, path, name in functions]
    sizes += [(path, lines_of(root, path), LONGEST_FILE) for path in [*paths, *scripts(root)] if path not in DATA]
    said = ["%s has %d lines, %d at most" % (what, lines, limit) for what, lines, limit in sizes if lines > limit]
    for room in ("libmpiprof/", "report/"):
        median = statistics.median([lines for lines, path, _ in functions if path.startswith(room)] or [0])
        if median > MEDIAN: said.append("the median function of %s has %g lines, %d at most" % (room, median, MEDIAN))
    print("%d functions in %d files, %d over their limits" % (len(functions), len(paths), len(said)))
    return said


def planted(ctags):
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "report"))
        long = "    ++n;\n" * LONGEST_FUNCTION
        files = {"short.cpp": "int f(int n) {\n    return n;\n}\n", "long.cpp": "int g(int n) {\n%s    return n;\n}\n" % long,
                 "file.cpp": "// a line\n" * (LONGEST_FILE + 1)}
        os.makedirs(os.path.join(root, "tests"))
        with open(os.path.join(root, "tests", "cases.py"), "w", encoding="utf-8") as out: out.write("# a line\n" * (LONGEST_FILE + 1))
        for name, text in files.items():
            with open(os.path.join(root, "report", name), "w", encoding="utf-8") as out: out.write(text)
        said = too_long(root, ctags)
    wanted = ["report/long.cpp:g has 63 lines, 60 at most", "report/file.cpp has 401 lines, 400 at most",
              "tests/cases.py has 401 lines, 400 at most",
              "the median function of report/ has 33 lines, 6 at most"]
    print("\n".join(said))
    return 0 if said == wanted else 1


def run(find, planted, root, *rest):
    """What a check does that needs ctags: says what `find` finds wrong, or tries it on `planted` faults."""
    ctags = find_ctags()
    if not ctags:
        print("skipped: no Universal Ctags here")
        return SKIPPED
    if rest == ("--planted",): return planted(ctags)
    said = find(root, ctags)
    for line in said: print(line)
    return 1 if said else 0


if __name__ == "__main__": sys.exit(run(too_long, planted, *sys.argv[1:]))
