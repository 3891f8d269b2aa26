"""The programs that people run and Debian ships, as a table: what each is given, how many ranks, what of its output has to be
the same with and without the library. Used by tests/e2e/cases/real_programs.py, which holds results and counts, and by
bench/programs, which measures what the library adds. It starts nothing by itself and knows nothing of either."""

import glob
import pathlib
import re
import shutil
from dataclasses import dataclass, field

INPUTS = pathlib.Path(__file__).resolve().parent / "inputs"
SCALAPACK = pathlib.Path("/usr/share/scalapack")
SCALAPACK_TESTERS = "/usr/lib/*/scalapack/openmpi-tests/"


class Missing(Exception):
    """The program is not installed; says of which package it is."""


@dataclass(frozen=True)
class Program:
    name: str
    package: str
    program: str              # a name on PATH or a pattern for its path
    what: str                 # what it is for MPI, in a few words
    results: object           # (directory, stdout) -> what has to be the same; nothing (false) means that the program failed
    varies: str = ""          # what else differs from run to run without us
    languages: str = "c"      # in which MPI is called: "c", "fortran" or both
    ranks: tuple = (2, 4)
    arguments: tuple = ()     # behind the program
    files: tuple = ()         # copied into the directory that it runs in
    prepare: object = None    # (directory, ranks, run): makes what cannot be copied; run(argv, stdin) runs a command there
    env: dict = field(default_factory=dict)
    loads_mpi: bool = False   # brings MPI in by dlopen: the program itself is not linked with it
    stdin: str = ""           # a file for rank 0
    in_callbacks: dict = field(default_factory=dict)  # {call: how many a rank makes in callbacks that MPI runs}
    same_stderr: bool = True

    def path(self, directory):
        """Where the program is, which may have been made in the directory that it runs in."""
        found = [shutil.which(self.program)] if "/" not in self.program else sorted(glob.glob(str(directory / self.program)))
        if not found or not found[0]:
            raise Missing(f"{pathlib.Path(self.program).name} is not installed (package {self.package})")
        return found[0]

    def command(self, directory):
        argv = [self.path(directory), *self.arguments]
        return ["sh", "-c", f'exec "$@" < {self.stdin}', "sh", *argv] if self.stdin else argv

    def make_ready(self, directory, ranks, run):
        for file in self.files:
            shutil.copy(file, directory)
        if self.prepare:
            self.prepare(directory, ranks, run)


def lines_with(pattern):
    """The lines of the output in which a pattern is found."""
    return lambda directory, out: re.findall(rf"^.*(?:{pattern}).*$", out, re.MULTILINE)


def sorted_lines_with(pattern):
    return lambda directory, out: sorted(lines_with(pattern)(directory, out))


# ---- ScaLAPACK ----

def residual_checks(directory, out):
    """Every test's parameters and verdict; between them are times and rates."""
    rows = re.findall(r"^(?:WALL|CPU) +((?:[A-Z'] )?(?:\d+ +)+).*?(PASSED|FAILED)", out, re.MULTILINE)
    summary = re.findall(r"^ *\d+ tests (?:completed|skipped).*$", out, re.MULTILINE)
    return [(re.sub(" +", " ", numbers), verdict) for numbers, verdict in rows] + summary if summary else []


def eigenvalue_checks(directory, out):
    """But for the one large matrix, of 27: whether its residual is small enough depends on who comes first, without us, too."""
    rows = re.findall(r"^ *((?:\d+ +){5}\w).*(PASSED|FAILED) +(\w+)", out, re.MULTILINE)
    return [row for row in rows if not row[0].startswith("27 ")]


def without_abort(directory, ranks, run):
    """The last of the BLACS' auxiliary tests is whether an abort ends all ranks. Two of five precisions are enough."""
    text = (SCALAPACK / "BLACS" / "bt.dat").read_text()
    text = re.sub(r"'T'( +Run AUX\?)", r"'F'\1", text)
    text = re.sub(r"5( +Number of precisions)", r"2\1", text)
    (directory / "bt.dat").write_text(re.sub(r"'I' 'S' 'D' 'C' 'Z'( +Values)", r"'I' 'D'\1", text))


# ---- hpcc ----

HPCC_TIMINGS = re.compile(r"_(GBs|GFlops|Tflops|GUPs?|usec|time|rate)|Latency|Bandwidth|Time|_vsize|GFLOPS|Copy|Scale|Add|Triad", re.IGNORECASE)


def hpcc_input(directory, ranks, run):
    rows = {1: 1, 2: 1, 4: 2}[ranks]
    text = (INPUTS / "hpccinf.txt").read_text().replace("@P@", str(rows)).replace("@Q@", str(ranks // rows))
    (directory / "hpccinf.txt").write_text(text)


def hpcc_results(directory, out):
    text = (directory / "hpccoutf.txt").read_text()
    pairs = dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))
    verdicts = re.findall(r"\d+ tests? completed and (?:passed|failed) residual checks", text)
    numbers = {k: v for k, v in pairs.items() if not HPCC_TIMINGS.search(k) and re.fullmatch(r"[-\d]+", v)}
    return (sorted(pairs), numbers, verdicts) if pairs.get("Success") == "1" else None


# ---- others ----

def silicon_input(directory, ranks, run):
    """The package ships no pseudopotential: ld1.x makes one."""
    run(["ld1.x"], directory / "silicon.ld1.in")


def pw_results(directory, out):
    if "JOB DONE." not in out or "convergence has been achieved" not in out:
        return None
    kept = re.sub(r"[\d.]+(s|m *[\d.]+s) (CPU|WALL)|cpu time .*|(on:|starts on) .*|(?<= )[\d.]+ +secs", "TIME", out)
    return [re.sub(" +", " ", line) for line in kept.splitlines()]


def coarrays(directory, ranks, run):
    wrappers = glob.glob("/usr/lib/*/open-coarrays/openmpi/bin/caf")
    if not wrappers:
        raise Missing("caf is not installed (package libcoarrays-openmpi-dev)")
    run([wrappers[0], INPUTS / "heat.f90", "-o", directory / "heat"], None)


PETSC = ":".join(sorted(glob.glob("/usr/lib/petscdir/petsc*/*-real/lib/python3/dist-packages")))

PROGRAMS = (
    Program("hpcc", "hpcc", "hpcc", "C; up to millions of `Test` and `Testany` a second, user-made operations, `Cancel`",
            hpcc_results, prepare=hpcc_input, varies="times and rates; how often it polls"),
    Program("lammps", "lammps", "lmp", "C++, MPI called from a library of its own",
            lambda directory, out: re.findall(r"^ *\d+(?: +-?[\d.]+){5} *$", out, re.MULTILINE),
            arguments=("-in", "melt.in"), files=(INPUTS / "melt.in",), varies="times"),
    Program("quantum_espresso", "quantum-espresso", "pw.x", "Fortran's `mpif.h`, and C from ScaLAPACK in the same process",
            pw_results, languages="c fortran", arguments=("-in", "silicon.scf.in"), prepare=silicon_input,
            files=(INPUTS / "silicon.ld1.in", INPUTS / "silicon.scf.in"), varies="times, dates"),
    Program("scalapack_lu", "scalapack-mpi-test", SCALAPACK_TESTERS + "xdlu",
            "C below Fortran; makes and frees a datatype for a message", residual_checks, files=(SCALAPACK / "LU.dat",),
            varies="times, rates"),
    Program("scalapack_eigenvalues", "scalapack-mpi-test", SCALAPACK_TESTERS + "xdsep", "the same", eigenvalue_checks,
            files=(SCALAPACK / "SEP.dat",), ranks=(4,), varies="times; the verdict on its largest matrix"),
    Program("blacs", "scalapack-mpi-test", SCALAPACK_TESTERS + "xCbtest", "C; a datatype for each of some 10,000 matrices",
            lambda directory, out: lines_with("PASSED|FAILED|tests|TESTS")(directory, out), languages="c fortran", ranks=(4,), prepare=without_abort,
            files=tuple(SCALAPACK / "BLACS" / name for name in ("sdrv.dat", "bsbr.dat", "comb.dat"))),
    Program("mumps", "mumps-test", "/usr/lib/mumps/dsimpletest", "Fortran; a sparse solver, with ScaLAPACK's C",
            lines_with("Solution is"), languages="c fortran", stdin="/usr/lib/mumps/input_simpletest_real", varies="times"),
    Program("nwchem", "nwchem-openmpi", "nwchem.openmpi", "Global Arrays: C and Fortran",
            lines_with(r"Total SCF energy|One-electron energy|Nuclear repulsion"), languages="c fortran", ranks=(2,),
            arguments=("water.nw",), files=(INPUTS / "water.nw",), varies="times, dates, memory", same_stderr=False),
    Program("cp2k", "cp2k", "cp2k.psmp", "Fortran, with ELPA, COSMA and ScaLAPACK below", lines_with("ENERGY[|]"),
            languages="c fortran", arguments=("-i", "hydrogen.inp"), files=(INPUTS / "hydrogen.inp",), varies="times, dates",
            env={"OMP_NUM_THREADS": "1", "CP2K_DATA_DIR": "/usr/share/cp2k"}),
    Program("meep", "meep-openmpi", "meep", "C++ with HDF5, run by Guile", lines_with("^field"), arguments=("bend.ctl",),
            files=(INPUTS / "bend.ctl",), varies="times; progress every four seconds"),
    Program("petsc4py", "python3-petsc4py-real", "/usr/bin/python3", "Python; a Krylov solver of PETSc", lines_with("^iterations"),
            arguments=("laplace.py",), files=(INPUTS / "laplace.py",), loads_mpi=True, env={"PYTHONPATH": PETSC},
            in_callbacks={"mpi_comm_delete_attr": 2}),
    Program("h5py", "python3-h5py-mpi", "/usr/bin/python3", "Python; one HDF5 file that all ranks write", lines_with("^total"),
            arguments=("shared_file.py",), files=(INPUTS / "shared_file.py",), loads_mpi=True,
            in_callbacks={"mpi_comm_free": 1, "mpi_comm_free_keyval": 1}),  # HDF5 ends when MPI_COMM_SELF loses its attribute
    Program("rmpi", "r-cran-rmpi", "Rscript", "R", lines_with("^total"), arguments=("ring.R",), files=(INPUTS / "ring.R",),
            loads_mpi=True),
    Program("opencoarrays", "libcoarrays-openmpi-dev", "./heat", "Fortran's coarrays: one-sided communication",
            lines_with("^total"), prepare=coarrays),
)
