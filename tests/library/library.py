#!/usr/bin/env python3
"""Checks what libmpiprof.so needs, exports and relocates.

library.py LIB --root ROOT [--cxx CXX]    the promises of docs/architecture.md about preloaded code
library.py LIB --against WRAPPER ...      LIB exports every symbol by which programs call that MPI's wrapped functions
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../compile"))
import rows as calls  # noqa: E402
import elf  # noqa: E402
import spellings  # noqa: E402

SKIPPED = 77
MOST_RELOCATIONS = 52  # gcc 12 makes 49, gcc 14 one more
# The compiler calls memcpy, memset ... where x86-64 has instructions; two for the data of a thread, three for the unwinder's table.
MOST_RELOCATIONS_ON_AARCH64 = 63
OLDEST_GLIBC = (2, 28)  # RHEL 8
OTHER_EXPORTS = re.compile(r"ncclProfiler_\w+|mpiprof_\w+|cupti(ActivityRegister(Callbacks|TimestampCallback)|ActivityDisable|Finalize)|"
    r"cuda(Graph|StreamBeginCapture|StreamEndCapture)\w*|_exit|_Exit|getenv")

# What preloaded code must not call, by the first pattern that matches, and why.
FORBIDDEN = [
    (r"_Z|__cxa_(?!finalize|thread_atexit_impl)|__gxx_|_Unwind_", "C++ runtime: there is none in the processes we are loaded into"),
    (r"P?MPI_", "an MPI function: the library would need one MPI"),
    (r"__tls_get_addr", "a call per access to thread-local data; the model is initial-exec"),
    (r"(malloc|calloc|realloc|free|strdup|asprintf|posix_memalign|aligned_alloc|getline|fopen|opendir)$",
     "the program's allocator may be in use, replaced or broken"),
    (r"(exit|abort|quick_exit|__assert_fail|__stack_chk_fail)$", "the user's program is not ours to end"),
    (r"(signal|sigaction|bsd_signal|sigset)$", "signal handlers are the program's"),
    (r"(putenv|unsetenv|clearenv|setlocale)$", "changes what the program sees"),
    (r"(__isoc\d+_)?(v|f|s|vs)?scanf$|(__isoc\d+_)?strto(l|ul|ll|ull|d|f|imax|umax)$",
     "gets a newer symbol version on newer build machines"),
]

# Nobody may change the environment.
SETS = re.compile(r"\bsetenv\s*\(\s*([^,]+)")

# Tables that NCCL asks for by dlsym: indirect functions, whose address is found when they are asked for.
PLUGIN = re.compile(r"ncclProfiler_v[1-7]")

# Before glibc 2.34 these lived in libdl, libpthread, librt and libutil, which need not be there: only weakly, if at all.
OUTSIDE_LIBC = re.compile(r"dl(?!_iterate_phdr)\w+$|(pthread|sem|shm|timer|aio|mq|lio)_|(open|fork)pty$")


def problems_of_loading(library):
    for name in library.needed:
        if not re.match(r"libc\.so\.6$|ld-linux[\w.-]*$", name): yield "needs %s" % name
    if not library.needed: yield "needs nothing, not even libc: was this linked?"
    on_aarch64 = any("AARCH64" in kind for kind in library.relocations)
    most = MOST_RELOCATIONS_ON_AARCH64 if on_aarch64 else MOST_RELOCATIONS
    if len(library.relocations) >= most:
        yield "%d relocations, paid in every process; fewer than %d are allowed" % (len(library.relocations), most)
    for tag in ("INIT", "RPATH", "RUNPATH", "TEXTREL"):
        if tag in library.dynamic: yield "has a DT_%s" % tag
    flags = " ".join(library.dynamic["FLAGS"] + library.dynamic["FLAGS_1"])
    for flag, why in (("TEXTREL", "text relocations"), ("BIND_NOW|NOW", "every symbol bound at start")):
        if re.search(r"\b(%s)\b" % flag, flags): yield "has the dynamic flag %s: %s" % (flag, why)
    if library.size_of("INIT_ARRAYSZ") or library.size_of("PREINIT_ARRAYSZ"):
        yield "runs a constructor: a process without MPI would notice us"
    if library.size_of("FINI_ARRAYSZ") > 8: yield "runs more than one destructor"
    if "FINI" in library.dynamic: yield "has a DT_FINI; the destructor belongs into the fini_array"
    if ".eh_frame_hdr" not in library.sections: yield "has no unwind tables: exceptions could not pass through"


def problems_of_segments(library):
    if "GNU_STACK" not in dict(library.segments): yield "does not say whether its stack is executable"
    for kind, flags in library.segments:
        if kind == "GNU_STACK" and "E" in flags: yield "wants an executable stack"
        if kind == "LOAD" and "W" in flags and "E" in flags: yield "has a segment that is writable and executable"


def problems_of_imports(library):
    for symbol in library.symbols:
        if symbol.defined or not symbol.name: continue
        for pattern, why in FORBIDDEN:
            if re.match(pattern, symbol.name):
                yield "calls %s (%s)" % (symbol.name, why)
                break
        if is_too_new(symbol.version): yield "needs %s of %s; glibc 2.28 has none" % (symbol.name, symbol.version)
        if OUTSIDE_LIBC.match(symbol.name) and symbol.bind != "WEAK":
            yield "needs %s for certain, which is not in the libc of glibc 2.28" % symbol.name
        if not symbol.version and symbol.bind != "WEAK": yield "needs %s of no known library" % symbol.name


def problems_of_old_loaders(library):
    """Before glibc 2.34 a program need not have libdl: there libc's own loader, which newer ones lack, has to bring it."""
    weak = {symbol.name for symbol in library.symbols if not symbol.defined and symbol.bind == "WEAK"}
    for name in ("__libc_dlopen_mode", "__libc_dlsym"):
        if "dlsym" in weak and name not in weak: yield "does not import %s: MPI without libdl would not be found" % name


def problems_of_sources(root):
    """setenv is imported for one variable, set by one file."""
    for directory, _, names in os.walk(os.path.join(root, "libmpiprof")):
        for name in names:
            if not name.endswith((".cpp", ".h")): continue
            path = os.path.relpath(os.path.join(directory, name), root)
            with open(os.path.join(root, path), encoding="utf-8") as source: text = source.read()
            calls_of_it = SETS.findall("\n".join(line.partition("//")[0] for line in text.splitlines()))
            if calls_of_it: yield "%s sets %s in the program's environment" % (path, calls_of_it)


def is_too_new(version):
    if not version: return False
    version = version.split()[0]
    number = re.match(r"GLIBC_(\d+)\.(\d+)", version)
    return not number or (int(number[1]), int(number[2])) > OLDEST_GLIBC


# A name that any C library may give a function of its own is not for us to take, whatever else it stands for.
ORDINARY = re.compile(r"[a-z]\w*[a-z0-9]|[A-Z][A-Z0-9_]*")
OWN_PREFIX = re.compile(r"(nccl|ncclProfiler_|cupti|cuda|mpiprof_|_exit|_Exit|getenv)\w*")


def problems_of_exports(library, rows, of_nccl):
    exported = {symbol.name for symbol in library.symbols if symbol.defined}
    for name in sorted(exported):
        if ORDINARY.fullmatch(name) and not OWN_PREFIX.fullmatch(name):
            yield "exports %s, which may be anybody's function" % name
    for name in sorted(exported - spellings.possible(rows) - of_nccl):
        if not OTHER_EXPORTS.fullmatch(name): yield "exports %s, which no row stands for" % name
    missing = sorted((spellings.needed(rows) | of_nccl) - exported)
    for name in missing[:40]: yield "does not export %s" % name
    if len(missing) > 40: yield "... and %d more are not exported" % (len(missing) - 40)
    for symbol in library.symbols:
        if not symbol.defined: continue
        if symbol.version: yield "exports %s with a version, %s" % (symbol.name, symbol.version)
        if symbol.kind != ("IFUNC" if PLUGIN.fullmatch(symbol.name) else "FUNC") or symbol.bind != "GLOBAL":
            yield "exports %s as %s %s, not as a global function" % (symbol.name, symbol.bind, symbol.kind)


def all_problems(path, rows, of_nccl=frozenset()):
    library = elf.Library(path)
    found = list(problems_of_loading(library)) + list(problems_of_segments(library))
    found += list(problems_of_imports(library)) + list(problems_of_old_loaders(library)) + list(problems_of_exports(library, rows, of_nccl))
    return found, library


# ---- against the libraries of an installed MPI ----

# What an MPI exports beside the names that compilers write into programs, and what is not wrapped on purpose.
INTERNAL = re.compile(r"MPI_[A-Z]\w*_f(08)?$")  # Open MPI: the targets of its own aliases


def libraries_of(wrapper):
    """The MPI libraries that this wrapper links."""
    shown = subprocess.run([wrapper, "-show"], text=True, check=True, stdout=subprocess.PIPE).stdout
    words = shlex.split(shown)
    directories = [word[2:] for word in words if word.startswith("-L")]
    for name in (word[2:] for word in words if re.match(r"-lmpi", word)):
        paths = [os.path.join(directory, "lib%s.so" % name) for directory in directories]
        paths.append(subprocess.run([words[0], "-print-file-name=lib%s.so" % name], text=True, check=True,
                                    stdout=subprocess.PIPE).stdout.strip())
        yield next(path for path in paths if os.path.exists(path))


def not_wrapped(path):
    """The explicit list: `symbol  reason` a line."""
    with open(path, encoding="utf-8") as lines:
        pairs = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    for pair in pairs:
        if len(pair) != 2: sys.exit("%s: %s has no reason" % (path, pair[0]))
    return {name for name, _ in pairs}


def problems_against(library, wrapper, rows):
    wrapped = {}
    for row in rows:
        for name in (row.name, row.name + "_c") if row.large else (row.name,):
            if not row.passed: wrapped[name.lower()] = row.name
    known = not_wrapped(os.path.join(os.path.dirname(os.path.abspath(__file__)), "not_wrapped.txt"))
    exported = {symbol.name for symbol in library.symbols if symbol.defined}
    for name in sorted(known & exported): yield "%s is wrapped: take it off not_wrapped.txt" % name
    seen = 0
    for path in libraries_of(wrapper):
        for symbol in elf.Library(path).symbols:
            if not symbol.defined or symbol.kind == "OBJECT" or INTERNAL.match(symbol.name): continue
            match = re.match(r"mpi_(\w+?)(_cptr)?(_f08(ts)?)?(_large)?_{0,2}$", symbol.name, re.I)
            if not match or match[1].lower() not in wrapped: continue
            if symbol.name in spellings.of_nobody(match[1] + (match[2] or "")): continue
            seen += 1
            if symbol.name not in exported | known: yield "%s has %s; not wrapped" % (os.path.basename(path), symbol.name)
    if seen < 1000: yield "only %d symbols of %s looked at" % (seen, wrapper)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--root", required=True)
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--against", help="an MPI's compiler wrapper, such as mpifort.openmpi")
    options = parser.parse_args()
    rows = calls.read(options.cxx, os.path.join(os.path.abspath(options.root), "libmpiprof/mpi/calls.def"))
    of_nccl = calls.nccl_functions(options.cxx, os.path.join(os.path.abspath(options.root), "libmpiprof/nccl/calls.def"))
    if options.against:
        if not shutil.which(options.against):
            print("SKIPPED: there is no %s here" % options.against)
            return SKIPPED
        problems = list(problems_against(elf.Library(options.library), options.against, rows))
        summary = "every spelling is wrapped"
    else:
        problems, library = all_problems(options.library, rows, of_nccl)
        problems += problems_of_sources(os.path.abspath(options.root))
        summary = "%d exports, %d relocations, needs %s" % (
            sum(symbol.defined for symbol in library.symbols), len(library.relocations), " ".join(library.needed))
    print("\n".join(problems) if problems else summary)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
