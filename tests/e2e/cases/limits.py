"""Limits that the user has set are the program's: what fits without us, fits with us."""

from harness import case, check, same


def fits(scene, limit, kib, mib, ranks=2):
    """Runs with a limit of `kib` KiB that `ulimit` knows by the letter `limit`."""
    ran = []
    for profiled in (False, True):
        preload = ["env", "LD_PRELOAD=" + scene.preload()] if profiled else []
        place = scene.subdir(f"{limit}.{kib}.{mib}.{profiled}")
        argv = [*scene.launcher(ranks), *preload, "sh", "-c", f'ulimit -{limit} {kib}; exec "$@"', "sh", scene.compile("fits.c"), mib]
        ran.append(scene.alone(argv, profiled=False, cwd=place))
    plain, ours = ran
    same((ours.code, ours.out), (plain.code, plain.out), f"exit code and output with ulimit -{limit} {kib}\n{ours.err[-2000:]}")
    return ours, place


@case(ranks=2)
def program_that_just_fits_into_its_limits_fits_with_the_profile(scene):
    """With 24 MiB to spare of address space, and 4 MiB of data; where there is plenty, the profile has its room."""
    shown = scene.mpirun(2, [scene.compile("fits.c"), "show"], profiled=None).succeeded().out
    space, data = map(int, shown.split())
    for mib in (60, 300):
        ran, place = fits(scene, "v", space + (mib + 24) * 1024, mib)
        same(ran.out, "fits 1\n", f"the program's output, {mib} MiB of address space")
        same(scene.calls(cwd=place).get((0, "MPI_Allreduce")), 20, "calls")
    ran, place = fits(scene, "d", data + (100 + 4) * 1024, 100)
    same(ran.out, "fits 1\n", "the program's output, 100 MiB of data")
    same(scene.calls(cwd=place).get((0, "MPI_Allreduce")), 20, "calls")
    ran, place = fits(scene, "v", space + 4 * 1024 * 1024, 300)
    same((ran.out, scene.calls(cwd=place).get((0, "MPI_Allreduce"))), ("fits 1\n", 20), "output and calls where there is plenty")
