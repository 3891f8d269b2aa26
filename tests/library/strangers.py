#!/usr/bin/env python3
"""Looks at every shared library that is installed here: who defines a name that libmpiprof.so exports has to be an MPI, an NCCL,
or a stand-in for one. Anybody else's function would be taken over in every program that uses it.

strangers.py LIB [DIRECTORY ...]     the directories are those of the distribution unless given
strangers.py --planted CC            finds a stranger in a directory of its own, and leaves an MPI alone
"""

import mmap
import os
import re
import struct
import subprocess
import sys
import tempfile

DIRECTORIES = ("/usr/lib", "/usr/local/lib", "/opt")

# Who may define what we wrap, by how its file is called, and what it is.
MAY_DEFINE = [
    (r"lib(fort|f)?p?mpi(ch|chf90|chfort|chcxx|fort|_mpifh|_usempi\w*|_cxx|_abi|_cray|_gnu\w*|mvapich)?\.so", "an MPI, and its Fortran bindings"),
    (r"libmpiseq[-.\w]*\.so|lib([sdcz]mumps|mumps_common)_seq[-.\w]*\.so", "a serial stand-in for MPI, as MUMPS has it"),
    (r"libnccl(-net\w*)?\.so|librccl\.so", "an NCCL"),
    (r"libcupti\.so|libcudart\.so", "CUPTI and CUDA's runtime, some of whose functions are watched"),
    (r"libc\.so|libc-2|lib[alt]san\.so|libclang_rt\.\w+-|libgp-collector\.so", "libc, whose _exit is watched, and those that wrap it themselves"),
    (r"libompitrace\.so|ompi_monitoring_prof\.so|lib(mpiP|darshan|scorep|mpitrace|ipm|vt)\b[-.\w]*\.so", "a tool that wraps MPI itself"),
    (r"libmpiprof(-dlsym)?\.so", "ourselves"),
]
ALLOWED = re.compile("|".join("(?:%s)" % pattern for pattern, _ in MAY_DEFINE))
DYNSYM, STT_SECTION, UNDEFINED = 11, 3, 0


def defined_names(path, prefixes):
    """The dynamic symbols of a 64-bit little-endian ELF file that are defined and begin with one of `prefixes`; nothing for
    other files."""
    with open(path, "rb") as file:
        if file.read(6) != b"\x7fELF\x02\x01" or os.fstat(file.fileno()).st_size < 64: return set()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if all(data.find(b"\0" + prefix) < 0 for prefix in prefixes): return set()
            return {name for name in names_in(data) if name.startswith(prefixes)}


def names_in(data):
    sections, = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, sections + i * size) for i in range(count)]
    for header in headers:
        if header[1] != DYNSYM: continue
        strings = headers[header[6]][4]
        for at in range(header[4], header[4] + header[5], header[9]):
            name, info, _, section = struct.unpack_from("<IBBH", data, at)
            if section == UNDEFINED or info & 15 == STT_SECTION or info >> 4 == 0: continue
            yield data[strings + name:data.find(b"\0", strings + name)]


def shared_libraries(directories):
    seen = set()
    for top in directories:
        for directory, _, names in os.walk(top):
            for name in names:
                path = os.path.join(directory, name)
                if ".so" not in name or os.path.islink(path) or not os.path.isfile(path): continue
                where = os.stat(path)
                if (where.st_dev, where.st_ino) in seen: continue
                seen.add((where.st_dev, where.st_ino))
                yield path


def strangers(exported, directories):
    """(problems, libraries looked at, of which define names of ours and may)"""
    prefixes = tuple(sorted({re.match(rb"_?[A-Za-z]+_?", name)[0] for name in exported}))
    problems, looked_at, known = [], 0, []
    for path in shared_libraries(directories):
        looked_at += 1
        try:
            common = defined_names(path, prefixes) & exported
        except (OSError, struct.error, ValueError) as error:
            print("not looked at: %s: %s" % (path, error))
            continue
        if not common: continue
        if ALLOWED.match(os.path.basename(path)): known.append(os.path.basename(path))
        else: problems.append("%s defines %s, and %d more that we export" % (path, min(common).decode(), len(common) - 1))
    return problems, looked_at, known


def check(library, directories):
    with open(library, "rb") as file: exported = set(names_in(file.read()))
    problems, looked_at, known = strangers(exported, directories)
    print("\n".join(problems) if problems else "%d libraries, and of our %d names none is a stranger's; known: %s"
          % (looked_at, len(exported), " ".join(sorted(known)) or "none"))
    if looked_at < 20 or len(exported) < 1000:
        print("that is too few to mean anything")
        return 1
    return 1 if problems else 0


def planted(compiler):
    with tempfile.TemporaryDirectory() as work:
        for name, source in (("libstranger.so.3", "int MPI_Send(int a) { return a; } int other(void) { return 0; }"),
                             ("libmpi.so.40", "int MPI_Send(int a) { return a; }"),
                             ("libuser.so", "int MPI_Send(int); int call(void) { return MPI_Send(1); }")):
            subprocess.run([compiler, "-x", "c", "-", "-shared", "-fPIC", "-o", os.path.join(work, name)], input=source, text=True, check=True)
        problems, looked_at, known = strangers({b"MPI_Send", b"mpi_send_"}, [work])
    if looked_at == 3 and known == ["libmpi.so.40"] and len(problems) == 1 and "libstranger.so.3 defines MPI_Send" in problems[0]: return 0
    print("of three libraries one is a stranger's: found", problems, looked_at, known)
    return 1


if __name__ == "__main__":
    sys.exit(planted(sys.argv[2]) if sys.argv[1] == "--planted" else check(sys.argv[1], sys.argv[2:] or DIRECTORIES))
