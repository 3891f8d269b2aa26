"""The program's floating point is its own: traps that it unmasked do not fire in the library, its flags and its rounding are as
without it."""

from harness import Skip, case, same


def strongest(scene, command):
    """All traps, or all but the one for inexact results, which an MPI may set off itself."""
    for more in ([], ["but-inexact"]):
        plain = scene.mpirun(2, [*command, *more], profiled=None)
        if plain.code == 0:
            return [*command, *more], plain
        print(f"without us exit code {plain.code} of {command[1:]} {more}")
    raise Skip("this MPI does not run with unmasked traps")


def compare(scene, when):
    command, plain = strongest(scene, [scene.compile("traps.c", "-lm"), when, 200])
    for store in ("mapped", "written"):
        directory = scene.subdir(f"{when}-{store}")
        env = {"MPIPROF_STORE": store, "MPIPROF_PERIOD": "0.2", "MPIPROF_TEXT": "all"}
        ours = scene.mpirun(2, command, env=env, cwd=directory)
        same(ours.code, 0, f"exit code, {store} store; stderr: {ours.err[-1000:]}")
        same(sorted(ours.out.splitlines()), sorted(plain.out.splitlines()), f"flags, traps and rounding, {store} store")
        same(ours.err, plain.err, f"stderr, {store} store")
        same(len(list(directory.glob("*.txt"))), 2, "texts, which are computed in floating point")
    return plain


@case(ranks=2, slow=("mpich",))
def traps_unmasked_after_init_do_not_fire_in_the_library(scene):
    compare(scene, "after")


@case(ranks=2, slow=("openmpi",))
def traps_unmasked_before_init_do_not_fire_in_the_library(scene):
    compare(scene, "before")


@case(ranks=2, slow=("openmpi",))
def sticky_flags_and_rounding_are_those_of_the_program(scene):
    plain = compare(scene, "never")
    same(plain.out.count("traps 0, rounding 0x"), 6, f"lines of the program with its own rounding, in {plain.out}")
