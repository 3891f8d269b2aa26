#!/usr/bin/env python3
"""Keeps turns that no HPC engineer would write out of what users read: string literals of the product, README and docs.

words.py ROOT    file:line of each, and ends with 1 if there is one

Not in it: docs/decisions and CHANGELOG.md, which are records of their day.
"""

import glob
import os
import re
import sys

BANNED = ["told apart", "tell apart", "tells apart", "whom", "for want of", "out of sight", "tells of", "told of", "nobody hangs", "culprit", "culprits", "guilty"]
TURN = re.compile(r"\b(%s)\b" % "|".join(map(re.escape, BANNED)), re.I)
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
CODE = ["report/**/*", "libmpiprof/**/*", "launcher/*", "python/**/*"]
PAGES = ["README.md", "CONTRIBUTING.md", "docs/*.md", "examples/**/*.md", "include/*.h", "share/**/*"]


def texts(root):
    """(file, line, text) of all that a user may read."""
    for pattern in CODE:
        for path in sorted(glob.glob(os.path.join(root, pattern), recursive=True)):
            if not path.endswith((".cpp", ".h", ".def", ".py")): continue
            for number, line in enumerate(open(path, encoding="utf-8"), 1):
                for literal in LITERAL.findall(re.sub(r"^\s*(//|#).*", "", line)): yield path, number, literal
    for pattern in PAGES:
        for path in sorted(glob.glob(os.path.join(root, pattern), recursive=True)):
            if not os.path.isfile(path) or path.endswith(".mpiprof"): continue
            for number, line in enumerate(open(path, encoding="utf-8"), 1):
                yield path, number, re.sub(r"\]\([^)]*\)", "]", line)  # links lead to names of files


def main():
    root, seen, found = sys.argv[1], 0, []
    for path, number, text in texts(root):
        seen += 1
        turn = TURN.search(text)
        if turn: found.append('%s:%d: "%s" is no plain English of an engineer: say it directly' % (os.path.relpath(path, root), number, turn[0]))
    print("\n".join(found) or "%d texts without a banned turn" % seen)
    return 1 if found or seen < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
