#!/usr/bin/env python3
"""Checks libmpiprof-dlsym.so by the rules of libmpiprof.so, and that it exports dlsym and nothing else.

dlsym_library.py LIB
"""

import sys

import elf
import library


def problems(path):
    checked = elf.Library(path)
    yield from library.problems_of_loading(checked)
    yield from library.problems_of_segments(checked)
    yield from library.problems_of_imports(checked)
    exported = {symbol.name for symbol in checked.symbols if symbol.defined}
    if exported != {"dlsym"}: yield "exports %s instead of dlsym" % (", ".join(sorted(exported)) or "nothing")
    for symbol in checked.symbols:
        if symbol.defined and symbol.version: yield "exports %s with a version, %s" % (symbol.name, symbol.version)
    if checked.size_of("FINI_ARRAYSZ"): yield "runs a destructor"


if __name__ == "__main__":
    found = list(problems(sys.argv[1]))
    print("\n".join(found) if found else "exports dlsym, needs libc")
    sys.exit(1 if found else 0)
