#!/usr/bin/env python3
"""Holds every C and C++ file to .clang-format. Run by ctest; changes nothing.

format.py ROOT      names each file that clang-format would change, and ends with 1 if there is one

Versions of clang-format differ in small things, so one version judges: 14. Without it the check is skipped (77).
"""

import os
import re
import shutil
import subprocess
import sys

VERSION = "14"
FOLDERS = ("include", "libmpiprof", "report", "tools", "tests", "bench", "examples")
SKIPPED = 77


def find_clang_format():
    for name in ("clang-format-" + VERSION, "clang-format"):
        path = shutil.which(name)
        if path and re.search(r"version %s\." % VERSION, subprocess.run([path, "--version"], stdout=subprocess.PIPE, text=True).stdout):
            return path
    return None


def sources(root):
    for folder in FOLDERS:
        for directory, subdirectories, names in os.walk(os.path.join(root, folder)):
            subdirectories[:] = sorted(name for name in subdirectories if not name.startswith((".", "build", "__")))
            for name in sorted(names):
                if name.endswith((".h", ".c", ".cpp")): yield os.path.relpath(os.path.join(directory, name), root)


def differing(tool, root, paths):
    """The paths that clang-format would change."""
    run = subprocess.run([tool, "--dry-run", *paths], cwd=root, stderr=subprocess.PIPE, text=True)
    if run.returncode != 0: sys.exit("format.py: %s failed: %s" % (tool, run.stderr.strip()))
    found = {}
    for path, line in re.findall(r"^(.+?):(\d+):\d+: warning: ", run.stderr, re.M): found.setdefault(path, line)
    return found


def main(root):
    tool = find_clang_format()
    if not tool:
        print("skipped: no clang-format %s here" % VERSION)
        return SKIPPED
    paths = list(sources(root))
    found = differing(tool, root, paths)
    for path, line in found.items(): print("%s:%s: not as .clang-format has it; run clang-format -i %s" % (path, line, path))
    print("%d files, %d differ" % (len(paths), len(found)))
    return 1 if found or not paths else 0


if __name__ == "__main__": sys.exit(main(*sys.argv[1:]))
