"""What an end-to-end case stands on: compile a small program with one MPI, run it with and without the
preload in a fresh directory, read its profiles with mpiprof-report.

Cases (cases/*.py) get a `Scene` and never start a process by other means, so that every run has a time limit,
a scrubbed environment and its own process group. Needs Python's standard library only."""

import contextlib
import csv
import fcntl
import functools
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from dataclasses import dataclass, field

from processes import end_session, end_who_is_left, wait_for  # noqa: F401

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
ROOT = HERE.parent.parent
SKIP_CODE = 77  # what CMakeLists.txt tells ctest
MPIS = ("openmpi", "mpich")

# Files of cases about what an MPI's own code does: CI runs them under each MPI, those of all others under one, by their name.
OF_EACH_MPI = {"arrivals", "communicators", "dlsym", "errors", "exactness", "languages", "left_over", "legal", "life", "loading",
               "other_tools", "peers", "requests", "survival"}

# What a scheduler, a launcher or a user's profile may have left in the environment must not reach a case.
FOREIGN = ("MPIPROF_", "LD_PRELOAD", "OMPI_", "PMIX_", "PMI_", "PRTE_", "HYDI_", "HYDRA_", "MPICH_", "MPIR_", "MPIEXEC_",
           "SLURM", "PBS_", "LSB_", "JOB_ID", "PALS_", "FLUX_", "COBALT_", "SGE_", "TORCHELASTIC_", "HOROVOD_", "JSM_", "NCCL_",
           "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_")


START_AND_END = {"MPI_Init", "MPI_Init_thread", "MPI_Session_init", "MPI_Finalize", "MPI_Session_finalize"}


class Skip(Exception):
    """The case cannot be tried here; the reason is printed and ctest says Skipped."""


class Failed(AssertionError):
    pass


def check(condition, message):
    if not condition:
        raise Failed(message)


def same(found, expected, what):
    check(found == expected, f"{what}:\n  expected {expected!r}\n  found    {found!r}")


@dataclass
class Case:
    name: str
    function: object
    mpis: tuple
    ranks: int
    tier: str
    timeout: int
    attempts: int
    slow: tuple = ()  # MPIs under which it is for the full tier

    def tier_of(self, mpi):
        if mpi in self.slow or self.tier != "ci": return "full"
        if self.function.__module__.rpartition(".")[2] in OF_EACH_MPI: return "ci"
        fast = [other for other in self.mpis if other not in self.slow] or ["none"]
        return "ci" if mpi == fast[zlib.crc32(self.name.encode()) % len(fast)] else "full"


CASES = []


def case(mpis=MPIS, ranks=4, tier="ci", timeout=400, attempts=1, slow=()):
    """Registers a function as a case, once for each MPI; CI may run one of these, see OF_EACH_MPI. mpis=() means that it needs none.
    Under MPIs named in `slow` it takes much longer, or as long once more, and is the full tier's.
    Time limits are there for what hangs: ranks that spin while others hold their core may be a hundred times slower.
    More than one attempt is for cases that say how long something takes, which a busy machine can spoil now and then and a
    defect spoils every time; never for what is counted."""
    def register(function):
        CASES.append(Case(function.__name__, function, tuple(mpis), ranks, tier, timeout, attempts, tuple(slow)))
        return function
    return register


@dataclass
class Ran:
    argv: list
    code: int
    out: str
    err: str

    def succeeded(self):
        check(self.code == 0, f"exit code {self.code} of {' '.join(map(str, self.argv))}\n{self.out[-2000:]}{self.err[-4000:]}")
        return self


def execute(argv, cwd=None, env=None, timeout=250, stdin=subprocess.DEVNULL, preexec=None):
    """Runs argv to its end or its time limit, in a session of its own so that no child outlives it."""
    argv = [str(a) for a in argv]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(argv, cwd=cwd, env=env, stdin=stdin, stdout=out, stderr=err, start_new_session=True,
                                   preexec_fn=preexec)
        try:
            code = wait_for(process, timeout)
        except subprocess.TimeoutExpired:
            end_session(process)
            code = None
        except BaseException:
            end_session(process)
            raise
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
    check(code is not None, f"still running after {timeout} s: {' '.join(argv)}\n{texts[0][-2000:]}{texts[1][-2000:]}")
    return Ran(argv, code, *texts)


@functools.cache
def has_newer_openmpi():
    """Version 5 and later."""
    mpirun = shutil.which("mpirun.openmpi")
    version = re.search(r" (\d+)\.", execute([mpirun, "--version"]).out) if mpirun else None
    return version is not None and int(version[1]) >= 5


@contextlib.contextmanager
def alone(target):
    """Of several cases that make this file at the same time the others wait: one that is replaced while it runs is a
    deleted file, whose lines nobody finds."""
    with open(target.with_name(f".{target.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def clean_environment():
    env = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
    # Open MPI refuses root, and more ranks than cores, unless told.
    env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
               OMPI_MCA_mpi_yield_when_idle="1", LC_ALL="C.UTF-8")
    # It tries TCP on one node, too, and where that leads nowhere each rank says so on stderr, in other words each time.
    if has_newer_openmpi():
        env.setdefault("OMPI_MCA_btl", "^tcp")
    return env


@dataclass
class Scene:
    """One case under one MPI: its directory, its tools."""
    name: str
    mpi: str
    library: pathlib.Path
    report: pathlib.Path
    work: pathlib.Path
    dir: pathlib.Path = field(init=False)

    def __post_init__(self):
        self.dir = self.work / f"{self.name}.{self.mpi}"
        shutil.rmtree(self.dir, ignore_errors=True)
        self.dir.mkdir(parents=True)
        self.bin = self.work / "bin"
        self.bin.mkdir(parents=True, exist_ok=True)

    # ---- tools ----
    def tool(self, name):
        path = shutil.which(name)
        if path is None:
            raise Skip(f"{name} is not installed")
        return path

    def mpicc(self):
        return self.tool(f"mpicc.{self.mpi}")

    def mpifort(self):
        return self.tool(f"mpif90.{self.mpi}")

    def python_with(self, *modules):
        """A Python that has these modules; the first one on PATH need not be the distribution's."""
        for candidate in dict.fromkeys([sys.executable, shutil.which("python3"), "/usr/bin/python3"]):
            imports = ";".join(f"import importlib.util as u; assert u.find_spec('{m}')" for m in modules)
            if candidate and os.path.exists(candidate) and execute([candidate, "-c", imports], env=clean_environment()).code == 0:
                return candidate
        raise Skip(f"no Python with {', '.join(modules)}")

    def python_program(self):
        """What runs a Python program that calls MPI, and by what it does: mpi4py under the MPI that it is made for here, the C
        functions of a preloaded MPICH by ctypes."""
        if self.mpi == "openmpi":
            return [self.python_with("mpi4py")], "mpi4py"
        return ["env", f"LD_PRELOAD={self.preload()}:{self.mpi_library()}", self.python_with("ctypes")], "ctypes"

    def mpi_library(self, program=None):
        """The MPI that this, or any, program is linked with."""
        linked = execute(["ldd", program or self.compile("idle.c")]).succeeded().out
        found = [words[2] for words in map(str.split, linked.splitlines()) if len(words) > 2 and words[0].startswith(("libmpi.", "libmpich"))]
        check(found, f"an MPI in\n{linked}")
        return found[0]

    def mpi_libraries(self, program):
        """The libraries of an MPI, for whatever language, that a program is linked with."""
        linked = execute(["ldd", program]).succeeded().out
        return sorted({words[2] for words in map(str.split, linked.splitlines())
                       if len(words) > 2 and "mpi" in words[0] and words[2].startswith("/")})

    def moves_programs(self):
        """Whether a program lies elsewhere each time."""
        return pathlib.Path("/proc/sys/kernel/randomize_va_space").read_text().strip() == "2"

    def oracle_options(self):
        return []

    def subdir(self, name):
        path = self.dir / name
        path.mkdir(parents=True)
        return path

    # ---- building ----
    def compile(self, source, *flags, name=None, compiler=None, label=None):
        """Compiles programs/SOURCE (cached in work/bin) and returns the path. `label` names the MPI in the
        file name, "" for plain programs."""
        source = PROGRAMS / source
        label = self.mpi if label is None else label
        target = self.bin / (name or f"{source.stem}.{label}".rstrip("."))
        if compiler is None:
            compiler = self.mpifort() if source.suffix == ".f90" else self.mpicc()
        may_be_included = (*source.parent.iterdir(), *(ROOT / "tests").glob("**/*.h"))
        newest = max(file.stat().st_mtime for file in (source, pathlib.Path(__file__), *may_be_included))
        with alone(target):
            if target.exists() and target.stat().st_mtime > newest: return target
            # Aside, for Fortran's modules.
            with tempfile.TemporaryDirectory(dir=self.bin) as aside:
                part = pathlib.Path(aside) / "part"
                execute([compiler, "-g", "-O1", source, "-o", part, *flags], cwd=aside, env=clean_environment()).succeeded()
                os.replace(part, target)
        return target

    def shared_object(self, source, *flags, name=None):
        return self.compile(source, "-shared", "-fPIC", *flags, name=(name or source.replace(".c", "")) + f".{self.mpi}.so")

    def oracle(self, language, program, leave_out=""):
        """The independent counter (oracle/make_oracle.py) for the MPI libraries that a program is linked with."""
        target = self.bin / f"oracle.{pathlib.Path(program).name}.{language}{'.some' if leave_out else ''}.{self.mpi}.so"
        maker = HERE / "oracle" / "make_oracle.py"
        with alone(target):
            if not target.exists() or target.stat().st_mtime < maker.stat().st_mtime:
                part = self.bin / f"{target.name}.{os.getpid()}"
                execute([sys.executable, maker, "--language", language, "--output", part, "--leave-out", leave_out, *self.oracle_options(),
                         *self.mpi_libraries(program)]).succeeded()
                os.replace(part, target)
        return target

    # ---- running ----
    def environment(self, extra=None):
        env = clean_environment()
        env.update({k: str(v) for k, v in (extra or {}).items()})
        return env

    def preload(self, *before):
        return ":".join(str(p) for p in (*before, self.library))

    def launcher(self, ranks):
        return [*self.mpirun_of(self.launched_by()), "-n", str(ranks)]

    def mpirun_of(self, mpi):
        return [self.tool(f"mpirun.{mpi}"), *(["--oversubscribe", "--bind-to", "none"] if mpi == "openmpi" else [])]

    def needs_two_programs(self):
        """Open MPI 5.0.7's mpirun ends by a segmentation fault where one of two programs is started by env."""
        program = self.compile("idle.c")
        ran = execute([*self.launcher(1), "env", "A=1", program, ":", "-n", "1", program], cwd=self.dir, env=clean_environment())
        if ran.code != 0:
            raise Skip(f"this mpirun cannot start two programs: exit code {ran.code} without us")

    def needs_exit_codes(self):
        """MPICH 4.2.1's mpirun answers 0 for every other job that failed."""
        if self.launched_by() != "mpich": return
        for _ in range(8):
            if execute([*self.launcher(2), self.compile("ring.c"), "5", "exit5"], cwd=self.dir, env=clean_environment()).code == 0:
                raise Skip("this mpirun answers 0 for a job that failed, without us")

    def launched_by(self):
        """The MPI whose mpirun makes one world of our ranks. Ubuntu 24.04's MPICH waits for PMIx, which its own mpirun does
        not speak: each rank is a world of one there, and Open MPI's mpirun can do what MPICH's cannot."""
        noted = self.bin / f"launched_by.{self.mpi}"
        if not noted.exists():
            program = self.compile("idle.c")
            for mpi in sorted(MPIS, key=lambda mpi: mpi != self.mpi):
                ran = execute([*self.mpirun_of(mpi), "-n", "2", program], cwd=self.dir, env=clean_environment())
                if ran.out.split() == ["idle:", "2"]:
                    part = self.bin / f"{noted.name}.{os.getpid()}"
                    part.write_text(mpi)
                    os.replace(part, noted)
                    break
            else:
                raise Skip(f"mpirun.{self.mpi} starts no world of two: {ran.out}{ran.err[-500:]}")
        return noted.read_text()

    def mpirun(self, ranks, program, profiled="exported", env=None, cwd=None, timeout=250, before=()):
        """Runs `program` (a list) on `ranks` ranks.
        profiled: "exported" LD_PRELOAD is in mpirun's own environment, as in a user's job script;
                  "ranks" only the ranks see it; None without the library.
        before: libraries to preload in front of ours."""
        env = self.environment(env)
        program = [program] if isinstance(program, (str, pathlib.Path)) else list(program)
        if profiled == "exported":
            env["LD_PRELOAD"] = self.preload(*before)
        elif profiled == "ranks":
            program = ["env", "LD_PRELOAD=" + self.preload(*before), *program]
        elif before:
            program = ["env", "LD_PRELOAD=" + ":".join(map(str, before)), *program]
        return execute(self.launcher(ranks) + program, cwd=cwd or self.dir, env=env, timeout=timeout)

    def alone(self, argv, profiled=True, env=None, cwd=None, timeout=250):
        """Runs a command without mpirun."""
        env = self.environment(env)
        if profiled:
            env["LD_PRELOAD"] = self.preload()
        return execute(argv, cwd=cwd or self.dir, env=env, timeout=timeout)

    # ---- reading ----
    def profiles(self, directory=None):
        """The binary profiles in a directory, without the .txt files for people."""
        found = sorted((directory or self.dir).glob("mpi_profile.*"))
        return [p for p in found if p.suffix != ".txt"]

    def run_report(self, *arguments, cwd=None, env=None, preexec=None):
        return execute([self.report, *arguments], cwd=cwd or self.dir, env=self.environment(env), preexec=preexec)

    def export_rows(self, *paths, cwd=None):
        ran = self.run_report("export", "-f", "csv", *paths, cwd=cwd).succeeded()
        reader = csv.DictReader(io.StringIO(ran.out))
        check((reader.fieldnames or [])[:9] == "rank,call,bin_max_bytes,buffer,calls,bytes,time_ns,min_ns,max_ns".split(","),
              f"header of export -f csv is {reader.fieldnames}")
        return list(reader)

    def export(self, *paths, cwd=None):
        """{(rank, call, bin_max_bytes): (calls, bytes)}, as `export -f csv` says; buffers summed."""
        rows = {}
        for row in self.export_rows(*paths, cwd=cwd):
            key = int(row["rank"]), row["call"], int(row["bin_max_bytes"])
            calls, size = rows.get(key, (0, 0))
            rows[key] = calls + int(row["calls"]), size + int(row["bytes"])
        return rows

    def calls(self, *paths, cwd=None, with_errors=False):
        """{(rank, call): calls} over all sizes, on request with the calls that returned an error."""
        totals = {}
        for row in self.export_rows(*paths, cwd=cwd):
            key = int(row["rank"]), row["call"]
            totals[key] = totals.get(key, 0) + int(row["calls"]) + (int(row["errors"]) if with_errors else 0)
        return {key: n for key, n in totals.items() if n}


def read_tables(pattern):
    """The `rank,call,bin_max_bytes,calls,bytes` tables that test programs write, as Scene.export() has them."""
    rows = {}
    for path in sorted(pattern.parent.glob(pattern.name)):
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                rows[int(row["rank"]), row["call"], int(row["bin_max_bytes"])] = int(row["calls"]), int(row["bytes"])
    check(rows, f"the program wrote no {pattern}")
    return rows


def without_start_and_end(rows):
    """Init and Finalize are the frame of a profile; whether they are rows too is not what a table is about."""
    return {key: value for key, value in rows.items() if key[1] not in START_AND_END}


def differences(found, expected, limit=12):
    """Readable lines for two dicts that should be equal."""
    lines = []
    for key in sorted(set(found) | set(expected), key=str):
        if found.get(key) != expected.get(key):
            lines.append(f"  {key}: expected {expected.get(key)}, found {found.get(key)}")
    more = [] if len(lines) <= limit else [f"  and {len(lines) - limit} more"]
    return "\n".join(lines[:limit] + more)
