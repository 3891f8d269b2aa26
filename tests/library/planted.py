#!/usr/bin/env python3
"""Builds a library that breaks every promise, and sees library.py name each of them; then one that keeps them.

planted.py CC CXX ROOT
"""

import os
import subprocess
import sys
import tempfile

import library
import rows as calls
import spellings

BAD = r"""
#include <math.h>
#include <semaphore.h>
#include <stdlib.h>
#include <setjmp.h>
extern int MPI_Init(int *, char ***);
extern void *dlsym(void *, const char *) __attribute__((weak));
double (*table[60])(double) = {[0 ... 59] = sin};
__thread int counter;
void mpi_init(int *e) { *e = 0; }
void MPI_SEND(int *e) { *e = 0; }
int mpi_helper(void) { return MPI_Init(0, 0) + sem_post(0); }
int MPI_Wtime(void) { return dlsym ? ++counter : 0; }
void *MPI_Send(void *p) { return p ? realloc(p, 8) : malloc(8); }
int MPI_Recv = 1;
__attribute__((constructor)) static void start(void) { if (getenv("x")) abort(); }
__attribute__((destructor)) static void end1(void) { table[1](1); }
__attribute__((destructor)) static void end2(void) { table[2](1); }
"""
EXPECTED = [
    "needs libm.so.6", "relocations, paid in every process", "has a DT_INIT", "has a DT_RUNPATH", "every symbol bound at start",
    "runs a constructor", "runs more than one destructor", "has no unwind tables", "wants an executable stack",
    "calls MPI_Init", "calls malloc", "calls realloc", "calls abort", "calls __tls_get_addr",
    "needs sem_post for certain", "needs MPI_Init of no known library", "MPI without libdl",
    "exports mpi_helper, which no row stands for", "exports mpi_init, which may be anybody's", "exports MPI_SEND, which may be anybody's",
    "exports MPI_Wtime, which no row stands for", "does not export MPI_Abort", "more are not exported",
    "exports MPI_Recv as GLOBAL OBJECT",
]


def build(cc, source, out, *flags):
    subprocess.run([cc, "-x", "c", "-", "-shared", "-fPIC", "-O1", "-o", out, *flags], input=source, text=True, check=True)


def good_source(rows):
    names = sorted(spellings.needed(rows))
    return "#include <unistd.h>\n" + "".join("long %s(void) { return getpid(); }\n" % name for name in names)


def planted_in_sources():
    """Of sources, one of which sets a variable."""
    failures = 0
    with tempfile.TemporaryDirectory() as root:
        def write(path, text):
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as source: source.write(text)

        write("libmpiprof/mpi/special.cpp", "// setenv(nothing, at, all)\n")
        if list(library.problems_of_sources(root)):
            failures += 1
            print("sources that keep the promise were found wanting")
        write("libmpiprof/mpi/special.cpp", 'setenv("OMPI_MCA_x", "1", 1);\n')
        if len(list(library.problems_of_sources(root))) != 1:
            failures += 1
            print("a variable that is set was not found")
    return failures


def main():
    cc, cxx, root = sys.argv[1:4]
    rows = calls.read(cxx, os.path.join(os.path.abspath(root), "libmpiprof/mpi/calls.def"))
    failures = 0
    with tempfile.TemporaryDirectory() as work:
        bad, good = os.path.join(work, "bad.so"), os.path.join(work, "good.so")
        build(cc, BAD, bad, "-Wl,-z,execstack,-z,now,-rpath,/nowhere,--enable-new-dtags,--no-eh-frame-hdr", "-lm",
              "-fno-builtin", "-fno-asynchronous-unwind-tables", "-ftls-model=global-dynamic")
        said, _ = library.all_problems(bad, rows)
        for expected in EXPECTED:
            if any(expected in line for line in said): continue
            failures += 1
            print("not found: %s" % expected)
        if failures: print("said:", *said, sep="\n  ")
        build(cc, good_source(rows), good, "-nostartfiles", "-Wl,-z,lazy,-z,noexecstack")
        said, _ = library.all_problems(good, rows)
        if said:
            failures += 1
            print("a library that keeps the promises was found wanting:", *said, sep="\n  ")
    failures += planted_in_sources()
    for version, too_new in (("GLIBC_2.28", False), ("GLIBC_2.2.5 (2)", False), ("GLIBC_2.29", True),
                             ("GLIBC_ABI_DT_RELR", True), ("GLIBC_PRIVATE", True), ("", False)):
        if library.is_too_new(version) != too_new:
            failures += 1
            print("%s: is_too_new should be %s" % (version, too_new))
    if failures: return 1
    print("%d planted faults found" % len(EXPECTED))
    return 0


if __name__ == "__main__":
    sys.exit(main())
