#!/usr/bin/env python3
"""Checks calls.def against the mpi.h of one installed MPI.

1. Every function that the header declares has a row, but for those in declared_without_row.txt.
2. The parameters' names agree with the row's words (types cannot tell `dest` from a tag).
3. mpi_h_oracle.cpp compiles: arity, return types, registers, and types against words.
Ends with 77 (skipped) and says so where that MPI is not installed.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys

import rows as calls

SKIPPED = 77
HANDLES = "Comm Datatype Errhandler Group Info Message Op Request Session Win".split()

# The names that the headers of Open MPI, MPICH and the standard ABI give to the parameters that a word stands for.
# Only words whose type (int, int*, void*) many parameters share are worth looking at.
PARAMETER_NAMES = {
    "count": "count incount outcount origin_count", "scount": "sendcount origin_count", "rcount": "recvcount result_count",
    "counts": "counts", "scounts": "sendcounts", "rcounts": "recvcounts",
    "type": "datatype origin_datatype type mtype", "stype": "sendtype origin_datatype",
    "rtype": "recvtype result_datatype", "stypes": "sendtypes", "rtypes": "recvtypes",
    "dest": "dest", "source": "source", "root": "root", "target": "target_rank rank", "partitions": "partitions",
    "n": "count incount", "index": "index indx", "indices": "array_of_indices", "outcount": "outcount", "flag": "flag",
    "sbuf": "sendbuf inbuf origin_addr", "rbuf": "recvbuf inoutbuf outbuf result_addr",
    "comm": "comm comm_old old_comm local_comm intercomm",
}
# MPI 4.0 itself calls the source of MPI_Precv_init `dest`.
MISNAMED = {("Precv_init", "source", "dest")}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrapper", required=True, help="the MPI's compiler wrapper, such as mpicxx.mpich")
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--root", required=True, help="the project's root")
    parser.add_argument("--rows", help="another table of rows, to see it rejected")
    parser.add_argument("--work", required=True, help="a directory for what is generated")
    return parser.parse_args()


def include_flags(wrapper):
    shown = subprocess.run([wrapper, "-show"], text=True, check=True, stdout=subprocess.PIPE).stdout
    return [word for word in shlex.split(shown) if word.startswith("-I")]


def preprocess(cxx, flags):
    text = subprocess.run([cxx, "-E", "-P", "-std=c++20", "-x", "c++", *flags, "-"], input="#include <mpi.h>\n",
                          text=True, check=True, stdout=subprocess.PIPE).stdout
    return text


def without_attributes(text):
    nested = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
    return re.sub(r"__attribute__\s*" + nested, " ", text)


def declarations(text):
    """{name without MPI_: [parameter names]}; an unnamed parameter is ''."""
    flat = " ".join(without_attributes(text).split())
    found = {}
    for match in re.finditer(r"\b[A-Za-z_]\w*[ *]+MPI_(\w+) ?\(((?:[^()]|\([^()]*\))*)\) ?;", flat):
        if re.search(r"\btypedef\b[^;]*$", flat[max(0, match.start() - 40):match.start() + 1]): continue
        parameters = [p.strip() for p in re.split(r",(?![^()]*\))", match[2])]
        if parameters in ([""], ["void"]): parameters = []
        found[match[1]] = [parameter_name(p) for p in parameters]
    return found


def parameter_name(parameter):
    match = re.search(r"[ *](\w+) ?(?:\[[^]]*\] ?)*$", parameter)
    return match[1] if match else ""


def names_that_disagree(rows, declared):
    problems = []
    for row in rows:
        for function in (row.name, row.name + "_c") if row.large else (row.name,):
            for word, name in zip(row.words, declared.get(function, [])):
                allowed = PARAMETER_NAMES.get(word, "").split()
                if allowed and name and name not in allowed and (row.name, word, name) not in MISNAMED:
                    problems.append("MPI_%s: the row's `%s` is mpi.h's `%s`" % (function, word, name))
    return problems


def reasons(path):
    """The explicit list: `name  reason` a line."""
    with open(path, encoding="utf-8") as lines:
        pairs = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    for pair in pairs:
        if len(pair) != 2: sys.exit("%s: %s has no reason" % (path, pair[0]))
    return {name for name, _ in pairs}


def header_with_distinct_handles(options, flags):
    """A copy of an mpi.h whose handles are all int, in which each is a type of its own; None if they are already."""
    candidates = [os.path.join(flag[2:], "mpi.h") for flag in flags if flag.startswith("-I")]
    with open(next(path for path in candidates if os.path.exists(path)), encoding="utf-8") as header:
        text = header.read()
    if not re.search(r"^typedef int MPI_Comm;", text, re.M): return None
    for handle in HANDLES:
        text = re.sub(r"^typedef int MPI_%s;" % handle, "typedef struct distinct_%s* MPI_%s;" % (handle, handle), text,
                      flags=re.M)
    copy = os.path.join(options.work, "mpi_h_with_distinct_handles.h")
    with open(copy, "w", encoding="utf-8") as out: out.write(text)
    return copy


def oracle_compiles(options, label, header, flags, rows_path):
    command = [options.cxx, "-std=c++20", "-fsyntax-only", "-I", options.root, *flags,
               '-DMPI_H="%s"' % header, '-DDECLARED_H="%s"' % os.path.join(options.work, "declared.h"),
               '-DROWS="%s"' % rows_path, os.path.join(options.root, "tests/compile/mpi_h_oracle.cpp")]
    result = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode:
        lines = [line for line in result.stdout.splitlines() if "error:" in line or "comparison" in line]
        print("%s:" % label, *lines[:40], sep="\n")
        if len(lines) > 40: print("... and %d lines more" % (len(lines) - 40))
    return result.returncode == 0


def main():
    options = arguments()
    if not shutil.which(options.wrapper):
        print("SKIPPED: there is no %s here, so its mpi.h was not looked at" % options.wrapper)
        return SKIPPED
    os.makedirs(options.work, exist_ok=True)
    rows_path = os.path.abspath(options.rows or os.path.join(options.root, "libmpiprof/mpi/calls.def"))
    # The C++ bindings of old are no part of this.
    flags = include_flags(options.wrapper) + ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
    text = preprocess(options.cxx, flags)
    declared = declarations(text)
    rows = calls.read(options.cxx, rows_path)

    problems = []
    # A header that we cannot read declares nothing, and nothing is easily right.
    if len(declared) < 300: problems.append("only %d functions found in mpi.h" % len(declared))
    expected = reasons(os.path.join(options.root, "tests/compile/declared_without_row.txt"))
    without_row = set(declared) - calls.functions(rows)
    problems += ["MPI_%s: declared but no row" % name for name in sorted(without_row - expected)]
    problems += names_that_disagree(rows, declared)
    for problem in problems: print(problem)

    with open(os.path.join(options.work, "declared.h"), "w", encoding="utf-8") as out:
        out.writelines("#define DECLARED_%s ~, true\n" % name for name in sorted(declared))
    ok = oracle_compiles(options, "mpi.h", "mpi.h", flags, rows_path)
    header = header_with_distinct_handles(options, flags)
    if header: ok = oracle_compiles(options, "mpi.h with distinct handles", header, flags, rows_path) and ok

    checked = len(set(declared) & calls.functions(rows))
    print("%s declares %d functions; %d of them have rows; %d rows are of other MPIs" %
          (options.wrapper, len(declared), checked, len([row for row in rows if row.name not in declared])))
    return 0 if ok and not problems else 1


if __name__ == "__main__":
    sys.exit(main())
