"""What the benchmarks share: finding and building things, running the work with and without the library, budgets, tables."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
MPIS = ("openmpi", "mpich")


def find_built(relative, given):
    """A product of the build: as given, else of the newest build directory."""
    if given:
        path = os.path.abspath(given)
        if not os.path.exists(path): sys.exit("%s does not exist" % given)
        return path
    candidates = [os.path.join(ROOT, build, relative) for build in ("build", "build-dev")]
    found = [path for path in candidates if os.path.exists(path)]
    if not found: sys.exit("%s is not built here; name one with an option (see --help)" % relative)
    return max(found, key=os.path.getmtime)


def find_library(given=None): return find_built("libmpiprof/libmpiprof.so", given)
def find_report(given=None): return find_built("report/mpiprof-report", given)


def chosen_mpis(given):
    """The MPIs to measure with: as given, else all that are here."""
    found = [mpi for mpi in (given or MPIS) if shutil.which("mpicc." + mpi)]
    if not found:
        print("skipped: no MPI found (%s)" % ", ".join("mpicc." + mpi for mpi in given or MPIS))
        sys.exit(77)
    return found


def need_callgrind():
    """Ends as a skipped test does where instructions cannot be counted."""
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        sys.exit(77)


PASSED_ON = ("HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "USER")
ROOM = 16384  # bytes of the environment


def pad(environment, words=()):
    """The stack begins below the environment, and where frames lie decides which memos share a slot: the same for everybody."""
    environment["PADDING"] = "x" * (ROOM - sum(map(len, [*environment, *environment.values(), *words])))


class Workshop:
    """A temporary directory with the built programs; runs write their files into it."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="mpiprof-bench.")
        self.here = os.path.join(self.path, "run")

    def __enter__(self): return self
    def __exit__(self, *_): shutil.rmtree(self.path, ignore_errors=True)

    def build(self, source, compiler="cc"):
        name = os.path.splitext(source)[0]
        program = os.path.join(self.path, "%s.%s" % (name, compiler))
        if not os.path.exists(program):
            standard = "-std=c++20" if source.endswith(".cpp") else "-std=gnu11"
            subprocess.run([compiler, standard, "-O2", "-g", "-Wall", "-no-pie", "-I", ROOT, "-o", program, os.path.join(HERE, source)], check=True)
        return program

    def double(self, source, soname, *more):
        """A library that stands in for one of the GPU's or NCCL's."""
        subprocess.run(["cc", "-O2", "-g", "-w", "-I", ROOT, "-shared", "-fPIC", "-Wl,-soname," + soname, "-o", os.path.join(self.path, soname),
                        os.path.join(ROOT, "tests", source), *more, "-lpthread", "-ldl"], check=True)
        return os.path.join(self.path, soname)

    def build_memory(self):
        """memory.c with the MPI that it is linked to, which moves nothing."""
        library, program = os.path.join(self.path, "libmpich.so.12"), os.path.join(self.path, "memory")
        common = ["cc", "-std=gnu11", "-O1", "-g", "-Wall", "-I", ROOT]
        subprocess.run(common + ["-shared", "-fPIC", "-Wl,-soname,libmpich.so.12", "-o", library, os.path.join(HERE, "memory_mpi.c")], check=True)
        subprocess.run(common + ["-o", program, os.path.join(HERE, "memory.c"), library, "-Wl,-rpath," + self.path, "-lpthread"], check=True)
        return program

    def run(self, command, library=None, settings=None, mpi=None, ranks=1, prefix=(), check=True, **options):
        """Runs `command` in an empty directory, its ranks with the library preloaded if one is given."""
        shutil.rmtree(self.here, ignore_errors=True)
        os.makedirs(self.here)
        environment = {name: os.environ.get(name, "") for name in PASSED_ON}
        environment["TMPDIR"] = environment["TMPDIR"] or "/tmp"
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        preload = []
        if library:
            preload = ["env", "LD_PRELOAD=" + library] + ["%s=%s" % item for item in (settings or {}).items()]
        pad(environment, preload)
        if ranks > 1:
            launcher = ["mpirun." + mpi, "-n", str(ranks)]
            if mpi == "openmpi": launcher += ["--oversubscribe", "--bind-to", "none"]
            full = launcher + preload + list(prefix) + command
        else:
            environment["OMPI_MCA_ess_singleton_isolated"] = "1"
            full = preload + list(prefix) + command
        options.setdefault("timeout", 900)
        done = subprocess.run(full, cwd=self.here, env=environment, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        if check and done.returncode != 0:
            sys.exit("%s ended with %d:\n%s" % (" ".join(full), done.returncode, (done.stdout + done.stderr)[-2000:]))
        return done


def cases_of(program):
    """{name: (ranks, calls in a round, what)} of the work."""
    lines = subprocess.run([program, "list"], check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
    return {name: (int(ranks), int(calls), what) for name, ranks, calls, what in (line.split("|") for line in lines)}


# ---- callgrind ----

# By threads, since a dump is of the one that asked for it: what the library's helper does once a period, such as writing the
# profile, is no cost of a call, and would be that of whichever case it falls into.
CALLGRIND = ["valgrind", "--tool=callgrind", "--separate-threads=yes", "--callgrind-out-file=callgrind.out", "--trace-children=no", "-q"]


class Instructions:
    """Instructions of one dump: all of them, and those spent in libmpiprof.so.

    The library's .bss has a segment of its own (the gate's page), which valgrind cannot read: to it the library is "???".
    Nothing else is, in these programs.
    """

    def __init__(self, path):
        self.total = self.inside = 0
        self.part = None
        objects, current, skip = {}, "", False
        cost = re.compile(r"^(?:\+|-)?(?:\d+|\*) (\d+)$")
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                line = line.rstrip("\n")
                if line.startswith("desc: Trigger: Client Request: "): self.part = line.rsplit(": ", 1)[1]
                elif line.startswith("ob="):
                    number, _, name = line[3:].partition(" ")
                    if name: objects[number] = name
                    current = objects[number]
                elif line.startswith("cob="):
                    number, _, name = line[4:].partition(" ")
                    if name: objects[number] = name
                elif line.startswith("calls="): skip = True  # the next line is what the callee cost
                else:
                    found = cost.match(line)
                    if not found: continue
                    if not skip:
                        self.total += int(found[1])
                        if current == "???" or current.endswith("/libmpiprof.so"): self.inside += int(found[1])
                    skip = False


def dumps_in(directory):
    """{case: Instructions} of the client requests' dumps; of a case that ran several times, the one that took fewest."""
    found = [Instructions(os.path.join(directory, name))
             for name in os.listdir(directory) if re.match(r"callgrind\.out\.\d+-01$", name)]
    fewest = {}
    for dump in sorted(found, key=lambda dump: -dump.total):
        if dump.part: fewest[dump.part] = dump
    return fewest


# ---- budgets ----

BUDGETS = os.path.join(HERE, "budgets.txt")


def read_budgets():
    budgets = {}
    with open(BUDGETS, encoding="utf-8") as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if words: budgets[words[0]] = int(words[1])
    return budgets


def lower_budgets(measured):
    """Budgets may fall, never rise: rewrites those that were measured below."""
    lowered = []
    with open(BUDGETS, encoding="utf-8") as file: lines = file.readlines()
    for i, line in enumerate(lines):
        words = line.split("#")[0].split()
        if not words or words[0] not in measured: continue
        now = -int(-measured[words[0]] // 1)
        if now < int(words[1]):
            lines[i] = re.sub(r"(\s)\d+", r"\g<1>%d" % now, line, count=1)
            lowered.append("%s %s -> %d" % (words[0], words[1], now))
    with open(BUDGETS, "w", encoding="utf-8") as file: file.writelines(lines)
    return lowered


# ---- tables ----

def print_table(title, head, rows):
    widths = [max(len(str(row[i])) for row in [head] + rows) for i in range(len(head))]
    print(title)
    for row in [head] + rows:
        cells = [str(cell).ljust(width) if i == 0 else str(cell).rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        print("  " + "  ".join(cells).rstrip())
    print()
