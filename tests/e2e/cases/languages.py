"""Every call that moves data, in every language: made at least once with known sizes, counted by the program itself and
by the independent counter, and not one forgotten."""

import re
import shutil
import subprocess
import sys

from harness import PROGRAMS, ROOT, Skip, case, check, clean_environment, differences, execute, read_tables, same, without_start_and_end

from cases.exactness import oracle_counts

sys.path.insert(0, str(PROGRAMS))
sys.path.insert(0, str(ROOT / "tests" / "compile"))

import every_call  # noqa: E402
import rows  # noqa: E402

TRAFFIC_THAT_MOVES = {"send", "receive", "exchange", "collective", "one_sided", "file", "start", "local"}


def data_moving_rows():
    """What a program has to call: rows of the traffic that moves data, and those that set such a transfer up."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if not compiler:
        raise Skip("no C++ compiler to read calls.def with")
    table = rows.read(compiler, ROOT / "libmpiprof" / "mpi" / "calls.def")
    return {row.name: row for row in table if not row.passed and (row.traffic in TRAFFIC_THAT_MOVES or row.rule != "none")}


@case(mpis=(), ranks=1)
def every_data_moving_row_has_its_call(scene):
    written = {}
    for paragraph in every_call.read():
        for line in paragraph:
            written.setdefault(line.name, set()).add(line.twin)
    moving = data_moving_rows()

    same(sorted(moving.keys() - written.keys()), [], "rows without a line in every_call.txt")
    twins = {name: row.large for name, row in moving.items()}
    same({name: marks for name, marks in written.items() if name in twins and marks != {twins[name]}}, {},
         "lines of every_call.txt whose * does not say whether the row has a large-count twin")


def exported(scene, program):
    """All functions of the MPI libraries that a program is linked with, as nm says."""
    names = set()
    for library in scene.mpi_libraries(program):
        listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, stdout=subprocess.PIPE, text=True).stdout
        names.update(line.split()[-1].split("@")[0] for line in listing.splitlines())
    return names


def library_names(scene, language):
    """What the MPI libraries export that programs in this language are linked with."""
    if language == "c":
        return exported(scene, scene.compile("idle.c"))
    flavour, flags = ("mpi_f08", ["-DF08"]) if language == "mpi_f08" else ("mpi", [])
    return exported(scene, scene.compile("fortran.f90", "-cpp", *flags, name=f"fortran.{flavour}.{scene.mpi}"))


# What the function of a call ("Send", or "Send_c" with large counts) may be called in the library, by language.
def in_c(name, names):
    return f"MPI_{name}" in names


def in_fortran(name, names):
    return not name.endswith("_c") and f"mpi_{name.lower()}_" in names


def in_f08(name, names):
    lower = name.lower()
    spellings = [f"mpi_{lower}_f08_", f"mpi_{lower}_f08ts_"]
    if name.endswith("_c"):
        spellings.append(f"mpi_{lower[:-2]}_f08ts_large_")  # MPICH 4
        spellings.append(f"mpi_{lower[:-2]}_f08_large_")
    return any(spelling in names for spelling in spellings)


EXISTS = {"c": in_c, "mpif.h": in_fortran, "mpi": in_fortran, "mpi_f08": in_f08}


# None of these is called without the others.
PARTITIONED = {"psend_init", "precv_init", "pready", "pready_list", "pready_range", "parrived"}


def declared_otherwise(scene, source, flags):
    """Functions whose interface in this mpi_f08 is not the standard's: MPI_Psend_init and MPI_Precv_init of Open MPI 5.0.7."""
    said = execute([scene.mpifort(), "-fsyntax-only", "-w", *flags, source], cwd=source.parent, env=clean_environment()).err
    found = set(re.findall(r"no specific subroutine for the generic .mpi_(\w+).", said))
    return found | PARTITIONED if found & PARTITIONED else found


def make_every_call(scene, language, large, ranks=2, compiler=None, name=None):
    """Writes, compiles and runs one program; its account, the independent counter's and the profile have to agree."""
    name = name or f"every_call.{language}{'.large' if large else ''}"
    names = library_names(scene, language)
    check(EXISTS[language]("Send", names), f"the {language} libraries have no MPI_Send: {len(names)} names")

    otherwise = set()

    def has(function):
        return EXISTS[language](function, names) and function.lower() not in otherwise

    directory = scene.subdir(name)
    source = directory / f"{name}{'.c' if language == 'c' else '.f90'}"
    source.write_text(every_call.program(language, large, has))
    flags = [f"-I{PROGRAMS}"] if language == "c" else ["-ffree-line-length-none", "-fallow-argument-mismatch"]
    if language == "mpi_f08":
        otherwise |= declared_otherwise(scene, source, flags)
        source.write_text(every_call.program(language, large, has))
    if compiler:
        # Without MPI's old C++ classes: Open MPI's call MPI before the independent counter's constructor has run.
        flags += ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-Wl,--as-needed"]
    program = scene.compile(source, "-w", *flags, name=f"{name}.{scene.mpi}", compiler=compiler)
    if not large:
        # Nothing that this MPI has is left out: of the rows, and with it of this run.
        lacking = sorted(row for row in data_moving_rows() if not has(row))
        called = {line.name for line in every_call.chosen(every_call.read(), has)}
        same(sorted(data_moving_rows().keys() - called), lacking, "rows that are not called, against those that this MPI lacks")
        print(f"{name}: {len(called)} functions; this MPI lacks {len(lacking)}: {' '.join(lacking)}")

    plain = scene.mpirun(ranks, [program, "plain"], cwd=directory, profiled=None).succeeded()
    oracle = scene.oracle("c" if language == "c" else "fortran", program)
    ours = scene.mpirun(ranks, [program, "expected"], cwd=directory, before=[oracle], profiled="ranks",
                        env={"ORACLE_DIR": directory}).succeeded()

    same((sorted(ours.out.splitlines()), ours.err), (sorted(plain.out.splitlines()), plain.err), "output")
    expected = read_tables(directory / "expected.*.csv")
    found = without_start_and_end(scene.export(cwd=directory))
    check(found == expected, f"{name}, (rank, call, bin) -> (calls, bytes):\n" + differences(found, expected))
    # The independent counter also sees what the library calls by name inside its own functions (MPICH's MPI-IO does).
    booked = {}
    for (rank, call, _), (calls, _) in expected.items():
        booked[rank, call.lower()] = booked.get((rank, call.lower()), 0) + calls
    counted = {key: n for key, n in oracle_counts(directory).items() if key in booked}
    check(counted == booked, f"{name}, (rank, call) -> calls by the independent counter:\n" + differences(counted, booked))
    check(not large or any(call.endswith("_c") for _, call, _ in expected), "no large-count call was made")


@case(ranks=2)
def every_data_moving_call_in_c_is_exact(scene):
    make_every_call(scene, "c", False)


@case(ranks=2)
def every_data_moving_call_in_cxx_is_exact(scene):
    make_every_call(scene, "c", False, compiler=scene.tool(f"mpicxx.{scene.mpi}"), name="every_call.cxx")


@case(ranks=2)
def every_data_moving_call_with_large_counts_is_exact(scene):
    if not in_c("Send_c", library_names(scene, "c")):
        raise Skip("this MPI has no large counts")
    make_every_call(scene, "c", True)


@case(ranks=2)
def every_data_moving_call_in_fortran_is_exact(scene):
    for language in ("mpif.h", "mpi", "mpi_f08"):
        make_every_call(scene, language, False)


@case(ranks=2)
def every_data_moving_call_in_f08_with_large_counts_is_exact(scene):
    if not in_f08("Send_c", library_names(scene, "mpi_f08")):
        raise Skip("this MPI has no large counts in mpi_f08")
    make_every_call(scene, "mpi_f08", True)
