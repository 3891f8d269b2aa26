#!/usr/bin/env python3
"""Looks into libmpiprof.so for instructions that compute in floating point: they set the program's sticky flags and set off its traps,
so they may be in the few functions alone that run by with_own_arithmetic() (libmpiprof/base/arithmetic.h).

floating_point.py LIB [OBJDUMP]       the library
floating_point.py --planted CC        finds a function that computes, in an object of its own"""

import os
import re
import subprocess
import sys
import tempfile

# Functions by the names of their symbols, and by whom they are called under the program's nose.
MAY_COMPUTE = {
    "the text profile, by write_text_profile()": r"done.*18write_text_profile|_GLOBAL__N_1(5write|11print_sizes|9print_mpi|10print_nccl|5print|4mean|16seconds_per_tick)",
    "an event's time, by Events::take_time()": r"done.*gpu6Events9take_time",
}
ALLOWED = re.compile("|".join("(?:%s)" % pattern for pattern in MAY_COMPUTE.values()))

# Conversions and arithmetic; moves, logic and the control registers raise nothing.
COMPUTES = re.compile(
    r"v?(cvt\w*(sd|ss|pd|ps)\w*|(add|sub|mul|div|min|max|sqrt|round|cmp\w*|addsub|hadd|hsub|dp)(s|p)(s|d)|fn?m(add|sub)\w+|u?comis[sd])$"
    r"|f(ld|ild|st|stp|ist|istp|isttp|bld|bstp|add|mul|div|sub|com|ucom|tst|sqrt|prem|scale|rndint|abs|chs)[a-z0-9]*$"
    r"|[su]cvtf$|fcvt\w*$|f(n?m(add|sub|ul)|add|sub|div|cmpe?|ccmpe?|max|min|sqrt|rint\w|maxnm|minnm)$")
LOADS_OF_REGISTERS = {"fldcw", "fldenv", "fstenv", "fstcw", "fstsw"}


def computing_functions(path, objdump="objdump"):
    """{function: instructions} of what computes."""
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", path], text=True, check=True, stdout=subprocess.PIPE).stdout
    found, function, functions = {}, "", 0
    for line in text.splitlines():
        if line.endswith(">:"):
            function = line[line.index("<") + 1:-2]
            functions += 1
            continue
        words = line.split("\t")
        if len(words) < 2: continue
        name = re.sub(r"^((lock|rep|repz|repnz|bnd|notrack|data16) )+", "", words[1].strip()).split(None, 1)[:1]
        if name and COMPUTES.match(name[0]) and name[0] not in LOADS_OF_REGISTERS: found.setdefault(function, []).append(name[0])
    return found, functions


def check(path, objdump):
    found, functions = computing_functions(path, objdump)
    strangers = {name: sorted(set(what)) for name, what in found.items() if not ALLOWED.search(name)}
    for name, what in sorted(strangers.items()): print("%s computes in floating point: %s" % (name, " ".join(what)))
    if functions < 1000 or not found: print("only %d functions, %d of which compute: is this the library?" % (functions, len(found)))
    else: print("%d functions; these compute, and may: %s" % (functions, " ".join(sorted(set(found) - set(strangers)))))
    return 1 if strangers or functions < 1000 or not found else 0


def planted(compiler):
    source = "double half(long n) { return n * 0.5; }\nlong twice(long n) { return 2 * n; }\nlong double old(long n) { return n / 3.0L; }\n"
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "planted.o")
        subprocess.run([compiler, "-x", "c", "-", "-O1", "-c", "-o", path], input=source, text=True, check=True)
        found, _ = computing_functions(path)
    expected = {"half", "old"} if os.uname().machine == "x86_64" else {"half"}  # elsewhere long double is libgcc's
    if expected <= set(found) and "twice" not in found: return 0
    print("of half, twice and old, these were found to compute:", found)
    return 1


if __name__ == "__main__":
    sys.exit(planted(sys.argv[2]) if sys.argv[1] == "--planted" else check(sys.argv[1], *(sys.argv[2:] or ["objdump"])))
