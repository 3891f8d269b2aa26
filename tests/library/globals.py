#!/usr/bin/env python3
"""Holds the list of globals in docs/architecture.md against what libmpiprof.so has.

globals.py LIB --root ROOT [--nm NM]
globals.py --planted CXX               a global that is not listed, and a line without a global, are found

A global is a symbol in memory that the program may write to, thread-local ones included. Static variables of functions
count as well; tables of constants do not, whether the loader relocates them or not.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

WRITABLE = {".data", ".bss", ".tdata", ".tbss"}


def plain(name):
    """`mpiprof::mpi::(anonymous namespace)::ask_world()::text` -> `mpi::ask_world::text`"""
    name = re.sub(r"\{lambda\(.*?\)#\d+\}::operator\(\)", "", name.replace("(anonymous namespace)::", ""))
    while True:
        shorter = re.sub(r"\([^()]*\)( const)?|<[^<>]*>|\[abi:\w+\]", "", name)
        if shorter == name: break
        name = shorter
    return re.sub(r"::(::)+", "::", name).replace("mpiprof::", "").strip(":")


def globals_of(library, nm):
    """{plain name} of all that is writable. A template's variable has one name for all its instances."""
    text = subprocess.run([nm, "-C", "-f", "sysv", "--defined-only", library], text=True, check=True, stdout=subprocess.PIPE).stdout
    found = set()
    for line in text.splitlines():
        fields = line.rsplit("|", 6)
        if len(fields) == 7 and fields[6].strip().split(".local")[0] in WRITABLE and fields[3].strip() in ("OBJECT", "TLS"):
            found.add(plain(fields[0].strip()))
    return found


def listed_in(page):
    """({name}, [number said in words or digits before the block]) of the block ```globals."""
    block = re.search(r"(\d+) of them.*?```globals\n(.*?)```", page, re.S)
    if not block: sys.exit("docs/architecture.md has no block ```globals, or does not say how many there are")
    names = [re.split(r":\s", line, 1)[0].strip() for line in block[2].splitlines() if line.strip()]
    without_reason = [line for line in block[2].splitlines() if line.strip() and not re.search(r":\s+\S", line)]
    if without_reason: sys.exit("no reason is given: %s" % without_reason)
    if len(names) != len(set(names)): sys.exit("a global stands twice in docs/architecture.md")
    if len(names) != int(block[1]): sys.exit("docs/architecture.md says %s globals and lists %d" % (block[1], len(names)))
    return set(names)


def differences(found, listed):
    return ["not in docs/architecture.md: %s" % name for name in sorted(found - listed)] + \
           ["in docs/architecture.md and not in the library: %s" % name for name in sorted(listed - found)]


def planted(cxx, nm):
    source = """namespace mpiprof { int counted = 1; thread_local int own; static const int constant[4] = {1, 2, 3, 4};
        const char* const names[] = {"a"};
        namespace { struct State { int n; } state; template <class T> int each{}; }
        int next(int i) { static int last; return last += i + state.n + each<int> + each<char> + constant[i % 4] + *names[0]; } }"""
    with tempfile.TemporaryDirectory() as here:
        library = os.path.join(here, "planted.so")
        subprocess.run([cxx, "-shared", "-fPIC", "-O0", "-x", "c++", "-o", library, "-"], input=source, text=True, check=True)
        found = globals_of(library, nm)
    ours = {name for name in found if name in ("counted", "own", "state", "next::last", "each", "constant", "names")}
    if ours != {"counted", "own", "state", "next::last", "each"}: sys.exit("of a library with five globals were found: %s" % sorted(ours))
    said = differences(ours, {"counted", "own", "state", "next::last", "gone"})
    if len(said) != 2 or "each" not in said[0] or "gone" not in said[1]: sys.exit("differences were not found: %s" % said)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="?")
    parser.add_argument("--root")
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--planted", metavar="CXX")
    options = parser.parse_args()
    if options.planted: return planted(options.planted, options.nm)
    with open(os.path.join(options.root, "docs/architecture.md"), encoding="utf-8") as page: listed = listed_in(page.read())
    found = globals_of(options.library, options.nm)
    for line in differences(found, listed): print(line)
    if found != listed: sys.exit(1)
    print("%d globals, each with its reason" % len(found))


if __name__ == "__main__":
    sys.exit(main())
