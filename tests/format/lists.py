#!/usr/bin/env python3
"""Whoever loops over a list in braces includes <initializer_list>: gcc 14 (Debian 13) asks for it, gcc 12 does not.

lists.py ROOT    of the library, whose files include little of the standard library. Ends with 1 if there is one that does not.
"""

import glob
import os
import re
import sys

LOOP = re.compile(r"\bfor \([^;]*: *\{")
HEADER = re.compile(r"#\s*include <(initializer_list|vector|algorithm|string|map|set)>")


def main():
    files = [path for path in glob.glob(os.path.join(sys.argv[1], "libmpiprof/**/*"), recursive=True) if path.endswith((".cpp", ".h"))]
    loops, missing = 0, []
    for path in sorted(files):
        text = open(path, encoding="utf-8").read()
        found = LOOP.search(text)
        loops += bool(found)
        if found and not HEADER.search(text):
            missing.append("%s:%d: loops over a list in braces and does not include <initializer_list>" %
                           (os.path.relpath(path, sys.argv[1]), text.count("\n", 0, found.start()) + 1))
    print("\n".join(missing) or "%d of %d files loop over lists and include what they need" % (loops, len(files)))
    return 1 if missing or not loops else 0


if __name__ == "__main__":
    sys.exit(main())
