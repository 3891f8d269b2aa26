"""Programs that people run, with 2 and 4 ranks: they compute what they compute without us, and an independent count
of the same run agrees with the profile, call by call. docs/real-programs.md shows what the reports look like."""

import pathlib
import re
import shutil

from cases.exactness import compare_with_oracle
from harness import PROGRAMS, ROOT, Skip, case, check, execute, same


def linked_with(scene, program):
    """The distribution's build of a program, if it uses this case's MPI."""
    path = scene.tool(program)
    libraries = execute(["ldd", path]).succeeded().out
    if {"openmpi": "libmpi.so", "mpich": "libmpich.so"}[scene.mpi] not in libraries:
        raise Skip(f"{program} is built for another MPI")
    return path


@case(mpis=("openmpi",), ranks=4, tier="full", timeout=600)
def hpcc_computes_the_same_and_is_counted_exactly(scene):
    """Millions of Test and Testany calls: where a lost or double count, or an expensive call, would show."""
    hpcc = linked_with(scene, "hpcc")
    timings = re.compile(r"_(GBs|GFlops|Tflops|GUPs?|usec|time|rate)|Latency|Bandwidth|Time|_vsize|GFLOPS|Copy|Scale|Add|Triad", re.IGNORECASE)

    def results(directory):
        text = (directory / "hpccoutf.txt").read_text()
        pairs = dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))
        verdicts = re.findall(r"\d+ tests? completed and (?:passed|failed) residual checks", text)
        return sorted(pairs), {k: v for k, v in pairs.items() if not timings.search(k) and re.fullmatch(r"[-\d]+", v)}, verdicts

    for ranks, rows in ((2, 1), (4, 2)):
        outcomes = []
        for profiled in (False, True):
            directory = scene.subdir(f"{ranks}-{profiled}")
            text = (PROGRAMS / "hpccinf.txt").read_text().replace("@P@", str(rows)).replace("@Q@", str(ranks // rows))
            (directory / "hpccinf.txt").write_text(text)
            if profiled:
                ran = compare_with_oracle(scene, "c", [hpcc], ranks, directory)
            else:
                ran = scene.mpirun(ranks, [hpcc], profiled=None, cwd=directory).succeeded()
            outcomes.append((ran.out, ran.err, results(directory)))
        same(outcomes[1], outcomes[0], f"results of hpcc on {ranks} ranks")
        same(outcomes[0][2][1]["Success"], "1", "Success")


@case(mpis=("openmpi",), ranks=4, tier="full")
def lammps_computes_the_same_and_is_counted_exactly(scene):
    lmp = linked_with(scene, "lmp")

    def energies(text):
        rows = re.findall(r"^ *\d+(?: +-?[\d.]+){5} *$", text, re.MULTILINE)
        check(len(rows) == 6, f"no table of energies in:\n{text}")
        return rows

    for ranks in (2, 4):
        command = [lmp, "-in", PROGRAMS / "melt.in"]
        plain = scene.mpirun(ranks, command, profiled=None, cwd=scene.subdir(f"{ranks}-plain")).succeeded()
        ran = compare_with_oracle(scene, "c", command, ranks, scene.subdir(f"{ranks}-profiled"))
        same(energies(ran.out), energies(plain.out), f"energies on {ranks} ranks")
        same(ran.err, plain.err, "stderr")


@case(mpis=("openmpi",), ranks=4, tier="full", timeout=500)
def quantum_espresso_computes_the_same_and_is_counted_exactly(scene):
    """Fortran's mpif.h from the program and C from ScaLAPACK in one process."""
    pw, ld1 = linked_with(scene, "pw.x"), linked_with(scene, "ld1.x")
    for name in ("silicon.ld1.in", "silicon.scf.in"):
        shutil.copy(PROGRAMS / name, scene.dir)
    with open(scene.dir / "silicon.ld1.in") as text:  # no pseudopotential is in the package
        execute([ld1], cwd=scene.dir, env=scene.environment(), stdin=text).succeeded()

    def without_timings(text):
        kept = re.sub(r"[\d.]+(s|m *[\d.]+s) (CPU|WALL)|cpu time .*|(on:|starts on) .*|(?<= )[\d.]+ +secs", "TIME", text)
        return [re.sub(" +", " ", line) for line in kept.splitlines()]

    for ranks in (2, 4):
        texts = []
        for profiled in (False, True):
            directory = scene.subdir(f"{ranks}-{profiled}")
            for name in ("Si.UPF", "silicon.scf.in"):
                shutil.copy(scene.dir / name, directory)
            command = [pw, "-in", "silicon.scf.in"]
            if profiled:
                ran = compare_with_oracle(scene, "c fortran", command, ranks, directory)
            else:
                ran = scene.mpirun(ranks, command, profiled=None, cwd=directory).succeeded()
            check("JOB DONE." in ran.out and "convergence has been achieved" in ran.out, f"pw.x did not converge:\n{ran.out[-3000:]}")
            texts.append((without_timings(ran.out), ran.err))
        same(texts[1], texts[0], f"output of pw.x on {ranks} ranks")


RMPI = """
suppressMessages(library(Rmpi))
rank <- mpi.comm.rank(0)
total <- mpi.allreduce(as.double(rank + 1:4), type = 2, op = "sum", comm = 0)
told <- mpi.bcast(if (rank == 0) as.integer(c(3, 1, 4)) else integer(3), type = 1, rank = 0, comm = 0)
for (i in 1:20) mpi.barrier(0)
cat(sprintf("rank %d of %d: %s, %s\\n", rank, mpi.comm.size(0), paste(total, collapse = " "), paste(told, collapse = " ")))
invisible(mpi.finalize())
"""


@case(mpis=("openmpi",), ranks=2, tier="full")
def rmpi_computes_the_same(scene):
    """Its library has functions of its own called mpi_comm_rank, mpi_barrier ..."""
    rscript = scene.tool("Rscript")
    if execute([rscript, "-e", "find.package('Rmpi')"], env=scene.environment()).code != 0:
        raise Skip("r-cran-rmpi is not installed")
    (scene.dir / "program.R").write_text(RMPI)
    command = [rscript, scene.dir / "program.R"]

    plain = scene.mpirun(2, command, profiled=None).succeeded()
    ours = scene.mpirun(2, command).succeeded()

    same(sorted(ours.out.splitlines()), sorted(plain.out.splitlines()), "what the ranks computed")
    same(ours.err, plain.err, "stderr")
    check("rank 1 of 2: 3 5 7 9, 3 1 4" in ours.out, f"the ranks computed\n{ours.out}")
    calls = scene.calls()
    for name, times in (("MPI_Barrier", 20), ("MPI_Allreduce", 1), ("MPI_Bcast", 1)):
        same([calls.get((rank, name)) for rank in (0, 1)], [times] * 2, f"calls of {name}")


@case(ranks=4, tier="full")
def mpi4py_example_computes_the_same_and_is_counted_exactly(scene):
    python = scene.python_with("mpi4py", "numpy")
    for ranks in (2, 4):
        command = [python, ROOT / "examples" / "data_parallel" / "data_parallel.py", 50]
        plain = scene.mpirun(ranks, command, profiled=None).succeeded()
        if "1 ranks" in plain.out:
            raise Skip("this mpi4py was built for the other MPI")
        ran = compare_with_oracle(scene, "c", command, ranks, scene.subdir(str(ranks)), linked=scene.compile("ring.c"))
        same((ran.out, ran.err), (plain.out, plain.err), f"output on {ranks} ranks")


@case(ranks=2, tier="full")
def netpipe_is_counted_exactly(scene):
    """A ping-pong over many sizes, where the distribution has it."""
    program = {"openmpi": "NPopenmpi", "mpich": "NPmpich2"}[scene.mpi]
    path = shutil.which(program)
    if path is None:
        raise Skip(f"{program} is not installed")
    compare_with_oracle(scene, "c", [pathlib.Path(path), "-u", 65536], 2, scene.dir)
