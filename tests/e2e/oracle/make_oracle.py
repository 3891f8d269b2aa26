#!/usr/bin/env python3
"""Makes the independent counter: a preload library with one assembly trampoline per symbol.

A trampoline adds one to its counter and jumps to the real function. It touches no register and no stack slot an
argument may live in, so it counts any function of any library in any language without knowing its signature,
and it shares not a line with the profiler that it checks. x86-64 and aarch64.

    make_oracle.py --language c|fortran --output liboracle.so LIBRARY...

The symbols are those LIBRARY... export: MPI_* for C, mpi_*_ for Fortran. One language at a time, on purpose: an
MPI library may implement its Fortran functions by calling MPI_* (MPICH does), and such inner calls are not the
user's. For a C program count c, for a Fortran program count fortran.

At exit every process that called something writes $ORACLE_DIR/oracle.<rank>.csv ("symbol,calls"), where the rank
is the launcher's (0 without one). If that file exists, the pid is appended to the name."""

import argparse
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PATTERNS = {"c": r"MPI_[A-Z][A-Za-z0-9_]*", "fortran": r"mpi_[a-z0-9_]+_"}

X86_64 = """
    .globl {name}
    .type {name}, @function
{name}:
    lock incq oracle_counts+{offset}(%rip)
    jmp *oracle_reals+{offset}(%rip)
    .size {name}, .-{name}
"""

# x9..x17 are free between a caller and its callee.
AARCH64 = """
    .globl {name}
    .type {name}, %function
{name}:
    adrp x16, oracle_counts
    add x16, x16, :lo12:oracle_counts
    mov x9, #{offset}
    add x16, x16, x9
1:  ldxr x17, [x16]
    add x17, x17, #1
    stxr w10, x17, [x16]
    cbnz w10, 1b
    adrp x16, oracle_reals
    add x16, x16, :lo12:oracle_reals
    ldr x16, [x16, x9]
    br x16
    .size {name}, .-{name}
"""


def exported_functions(library, pattern):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in listing.splitlines():
        _, kind, name = line.split()
        name = name.split("@")[0]
        if kind in "TW" and re.fullmatch(pattern, name):
            yield name


def assembly(names, machine):
    trampoline = {"x86_64": X86_64, "aarch64": AARCH64}[machine]
    parts = ["    .text"]
    parts += [trampoline.format(name=name, offset=8 * i) for i, name in enumerate(names)]
    parts.append("    .section .rodata")
    parts += [f'.Lname{i}: .asciz "{name}"' for i, name in enumerate(names)]
    parts += ["    .section .data.rel.ro,\"aw\"", "    .balign 8", "    .globl oracle_names", "    .hidden oracle_names", "oracle_names:"]
    parts += [f"    .quad .Lname{i}" for i in range(len(names))]
    parts.append("    .quad 0")
    for array in ("oracle_counts", "oracle_reals"):
        parts += ["    .bss", "    .balign 8", f"    .globl {array}", f"    .hidden {array}", f"{array}: .skip {8 * len(names)}"]
    parts.append('    .section .note.GNU-stack,""')
    return "\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", choices=sorted(PATTERNS), required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--leave-out", default="", help="regular expression of symbols not to count")
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--machine", default=platform.machine())
    parser.add_argument("libraries", nargs="+")
    arguments = parser.parse_args()
    names = sorted({name for library in arguments.libraries for name in exported_functions(library, PATTERNS[arguments.language])
                    if not re.fullmatch(arguments.leave_out, name)})
    if not names:
        sys.exit(f"no {PATTERNS[arguments.language]} in {', '.join(arguments.libraries)}")
    with tempfile.NamedTemporaryFile("w", suffix=".s") as source:
        source.write(assembly(names, arguments.machine))
        source.flush()
        subprocess.run([arguments.compiler, "-shared", "-Wl,-z,initfirst", "-fPIC", "-O2", "-o", arguments.output, source.name, HERE / "oracle.c", "-ldl"],
                       check=True)


if __name__ == "__main__":
    main()
