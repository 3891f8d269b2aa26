"""Names that are not ours: programs whose own functions are called as MPI's could be, and stand-ins for MPI, behave as
without the library."""

import shutil
import sys

from harness import PROGRAMS, ROOT, Skip, case, check, clean_environment, execute, same

sys.path.insert(0, str(PROGRAMS))
sys.path.insert(0, str(ROOT / "tests" / "compile"))

import collisions  # noqa: E402
import rows  # noqa: E402

# The library at work, switched off, and told to record nothing: none of them may be noticed.
WAYS = {"preloaded": {}, "off": {"MPIPROF_DISABLE": "1"}, "without functions": {"MPIPROF_FUNCTIONS": "none"}}


def c_compiler(scene):
    return shutil.which("cc") or scene.tool("gcc")


def link(scene, library_source, program_source, *flags):
    """A program and its shared library, by the plain C compiler."""
    library, program = scene.dir / "libown.so", scene.dir / "program"
    compiler = c_compiler(scene)
    execute([compiler, "-O1", "-w", "-fPIC", "-shared", *flags, library_source, "-o", library], cwd=scene.dir).succeeded()
    execute([compiler, "-O1", "-w", *flags, program_source, library, f"-Wl,-rpath,{scene.dir}", "-o", program], cwd=scene.dir).succeeded()
    return program


def behaves_alike(scene, command, what):
    plain = scene.alone(command, profiled=False)
    for way, settings in WAYS.items():
        ours = scene.alone(command, env=settings)
        same((ours.code, ours.out, ours.err), (plain.code, plain.out, plain.err), f"{what}, {way}: exit code, stdout, stderr")
    return plain


@case(mpis=(), ranks=1)
def functions_of_a_program_without_mpi_are_its_own_whatever_their_names(scene):
    table = rows.read(shutil.which("c++") or scene.tool("g++"), ROOT / "libmpiprof" / "mpi" / "calls.def")
    names = collisions.names_of(table)
    check(len(names) > 400 and "mpi_comm_rank" in names, f"{len(names)} names")
    (scene.dir / "own.c").write_text(collisions.library(names))
    (scene.dir / "main.c").write_text(collisions.program(names))
    program = link(scene, scene.dir / "own.c", scene.dir / "main.c")

    plain = behaves_alike(scene, [program], f"{len(names)} functions with names of Fortran's MPI")

    same(plain.code, 0, "exit code")
    check(len(plain.out.splitlines()) > 3 * len(names), f"the program printed {plain.out[:500]}")


@case(mpis=(), ranks=1)
def serial_stand_in_for_mpi_behaves_as_without_us(scene):
    """The names that the library does export, defined by somebody who is no MPI."""
    program = link(scene, PROGRAMS / "serial_mpi.c", PROGRAMS / "serial_program.c", "-I", PROGRAMS)
    for language in ("c", "fortran", "early"):
        for end, code in (("finalize", 0), ("return3", 3), ("exit5", 5), ("abort7", 7)):
            plain = behaves_alike(scene, [program, language, end], f"{language}, {end}")
            same(plain.code, code, f"exit code of {language} {end}")


@case(mpis=(), ranks=1)
def serial_stand_in_inside_the_program_behaves_as_without_us(scene):
    """Linked statically, and exported: the program's own definitions come behind the preload's."""
    program = scene.dir / "program"
    execute([c_compiler(scene), "-O1", "-w", "-rdynamic", "-I", PROGRAMS, PROGRAMS / "serial_mpi.c", PROGRAMS / "serial_program.c",
             "-o", program], cwd=scene.dir).succeeded()
    for language in ("c", "fortran", "early"):
        behaves_alike(scene, [program, language, "finalize"], f"{language}, inside the program")


@case(ranks=2)
def fortran_without_underscores_computes_the_same_and_its_report_says_what_is_missing(scene):
    """gfortran -fno-underscoring: MPI has these names, the library leaves them alone."""
    words = [scene.mpifort(), "-fno-underscoring", "-w", PROGRAMS / "bare_names.f90", "-o", scene.dir / "linked"]
    if "undefined reference to `mpi_init'" in execute(words, cwd=scene.dir, env=clean_environment()).err:
        raise Skip("this MPI has no names without underscore")
    program = scene.compile("bare_names.f90", "-fno-underscoring", "-w", name=f"bare_names.{scene.mpi}")
    plain = scene.mpirun(2, [program], profiled=None).succeeded()

    ours = scene.mpirun(2, [program]).succeeded()

    same((ours.out, ours.err), (plain.out, plain.err), "output")
    if scene.profiles():  # MPICH's Fortran functions call those of C
        same(scene.calls().get((1, "MPI_Allreduce")), 7, "calls of MPI_Allreduce, as C's")
    else:
        told = scene.run_report().err
        check("Fortran calls have no underscore" in told, f"the report does not say why there is no profile:\n{told}")
