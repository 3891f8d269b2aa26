#!/usr/bin/env python3
"""Holds libmpiprof.so and the build of the reporter to what bench/weights.txt says that they weigh: what is not guarded grows.
Run by ctest.

weight.py LIB REPORTER WEIGHTS            says what is over its limit; REPORTER: the library of its objects
weight.py LIB REPORTER WEIGHTS --lower    rewrites limits that were undercut
weight.py --planted                       a weight over its limit is found, and one at it passes; a copy is counted
"""

import collections
import re
import subprocess
import sys

SKIPPED = 77
COMPILER = "12."  # others make other code: the limits are this one's
SECOND_HALF = re.compile(r" mpiprof::wrap::(leave\w*|memo_of)<")
FUNCTION = re.compile(r"[0-9a-f]+ ([0-9a-f]+) [WV] (\S+)")  # a line of nm about one that several objects may have
FMT_ENGINE = re.compile(r"_ZN3fmt2v\d+6detail10vformat_toIcEE")  # how fmt writes anything: libfmt has it
PLAIN_FORM = re.compile(r" mpiprof::wrap::call_(plainly|in_new_epoch)<")


def said(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout


def weights_of(library):
    """{what: how much}"""
    sections = {}
    for line in said("readelf", "-SW", library).splitlines():
        found = re.match(r"\s*\[\s*\d+\]\s+(\.\S+)\s+\S+\s+[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)", line)
        if found: sections[found[1]] = int(found[2], 16)
    functions = [line for line in said("nm", "-C", library).splitlines() if " [clone .cold]" not in line]
    return {"text": sections[".text"], "unwind": sections[".eh_frame"] + sections[".eh_frame_hdr"],
            "second_halves": sum(1 for line in functions if SECOND_HALF.search(line)),
            "plain_forms": sum(1 for line in functions if PLAIN_FORM.search(line))}


def copies_in(lines):
    """What nm says of the reporter's objects: bytes of functions that another object has as well, and who compiles others' code."""
    sizes, cli11, fmt, current = collections.defaultdict(list), set(), set(), ""
    for line in lines:
        if line.endswith(".o:"): current = line
        found = FUNCTION.match(line)
        if not found: continue
        sizes[found[2]].append(int(found[1], 16))
        if found[2].startswith("_ZN3CLI"): cli11.add(current)
        if FMT_ENGINE.match(found[2]): fmt.add(current)
    return {"copied": sum(sum(of) - max(of) for of in sizes.values()), "cli11": len(cli11), "fmt_engines": len(fmt)}


def limits_in(path):
    with open(path, encoding="utf-8") as file:
        return {line.split()[0]: int(line.split()[1]) for line in file if line.strip() and not line.startswith("#")}


def over(weights, limits):
    wrong = ["%s: %d, %d at most" % (what, weights[what], limit) for what, limit in limits.items() if weights[what] > limit]
    return wrong + ["%s has no limit" % what for what in weights if what not in limits]


def lower(path, weights):
    with open(path, encoding="utf-8") as file: lines = file.read().splitlines()
    for i, line in enumerate(lines):
        words = line.split()
        if words and words[0] in weights and weights[words[0]] < int(words[1]):
            lines[i] = re.sub(r"\b%s\b" % words[1], str(weights[words[0]]).rjust(len(words[1])), line, count=1)
    with open(path, "w", encoding="utf-8") as file: file.write("\n".join(lines) + "\n")


def main(*arguments):
    if arguments == ("--planted",):
        wrong = over({"text": 101, "unwind": 50, "more": 1}, {"text": 100, "unwind": 50})
        print("\n".join(wrong))
        twice = copies_in(["a.o:", "0000 0010 W _f", "0000 0008 T _g", "b.o:", "0000 0012 W _f", "0000 0004 W _ZN3CLI3AppC2Ev"])
        print(twice)
        return 0 if wrong == ["text: 101, 100 at most", "more has no limit"] and twice == {"copied": 16, "cli11": 1, "fmt_engines": 0} else 1
    library, reporter, path, *rest = arguments
    compiler = re.search(r"GCC: \(.*\) (\S+)", said("readelf", "-p", ".comment", library))
    if not compiler or not compiler[1].startswith(COMPILER):
        print("skipped: built by %s, and the limits are gcc %s's" % (compiler[1] if compiler else "another compiler", COMPILER))
        return SKIPPED
    weights, limits = {**weights_of(library), **copies_in(said("nm", "-S", reporter).splitlines())}, limits_in(path)
    for what, weight in weights.items(): print("%-14s %8d, %8d at most" % (what, weight, limits.get(what, 0)))
    if rest == ["--lower"]: lower(path, weights)
    wrong = over(weights, limits)
    for line in wrong: print("over its limit: " + line)
    return 1 if wrong else 0


if __name__ == "__main__": sys.exit(main(*sys.argv[1:]))
