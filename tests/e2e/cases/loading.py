"""However MPI comes into the process, its calls are seen; and a second MPI in it is left alone."""

import shutil

from harness import Failed, Scene, Skip, case, check, same


def calls_of(scene, *names, directory=None):
    found = scene.calls(cwd=directory)
    return {key: n for key, n in found.items() if key[1] in names}


@case(ranks=2)
def rtld_local_plugin_and_helper_without_needed_are_profiled(scene):
    host = scene.compile("host.c", "-ldl", compiler="gcc", label="")
    helper = scene.compile("helper.c", "-c", "-fPIC", name=f"helper.{scene.mpi}.o")
    library = scene.bin / f"libhelper.{scene.mpi}.so"
    scene.alone(["gcc", "-shared", helper, "-o", library], profiled=False).succeeded()
    plain = scene.shared_object("plugin.c")
    helped = scene.shared_object("plugin.c", "-DWITH_HELPER", library, f"-Wl,-rpath,{scene.bin}", name="plugin_helper")

    for plugin, bcasts in ((plain, None), (helped, 40)):
        directory = scene.subdir(plugin.stem)
        ran = scene.mpirun(2, [host, 40, plugin], cwd=directory).succeeded()
        check(ran.out.endswith("sums 2 4 6\n"), f"stdout is {ran.out!r}")
        expected = {(rank, "MPI_Allreduce"): 40 for rank in (0, 1)}
        if bcasts:
            expected.update({(rank, "MPI_Bcast"): bcasts for rank in (0, 1)})
        same(calls_of(scene, "MPI_Allreduce", "MPI_Bcast", directory=directory), expected, plugin.name)


@case(mpis=(), ranks=1)
def two_mpis_in_one_process(scene):
    """The first is profiled, the second passes through untouched. (The other order fails without us too: Open MPI
    makes its symbols global.)"""
    plugins = []
    for mpi in ("mpich", "openmpi"):
        if shutil.which(f"mpicc.{mpi}") is None:
            raise Skip("needs both MPIs")
        plugins.append(Scene(scene.name, mpi, scene.library, scene.report, scene.work).shared_object("plugin.c"))
    host = scene.compile("host.c", "-ldl", compiler="gcc", label="")

    try:
        plain = scene.alone([host, 17, *plugins], profiled=False, timeout=30).succeeded()
    except Failed as failure:  # both of Ubuntu 24.04 bring threads of PMIx along
        raise Skip(f"the two do not get along here, without us either: {failure}")
    ran = scene.alone([host, 17, *plugins]).succeeded()
    same(ran.out, plain.out, "stdout")
    same(ran.err, plain.err, "stderr")
    same(calls_of(scene, "MPI_Allreduce"), {(0, "MPI_Allreduce"): 17}, "calls of the first MPI")


@case(ranks=2)
def mpi4py_is_profiled(scene):
    python = scene.python_with("mpi4py")
    script = ("from mpi4py import MPI\nw = MPI.COMM_WORLD\n"
              "if w.rank == 0: print(MPI.Get_library_version()[:4], w.size)\n"
              "for i in range(50): w.Allreduce(bytearray(8), bytearray(8))\n")
    seen = scene.mpirun(2, [python, "-c", script], profiled=None).succeeded().out.strip()
    name = {"openmpi": "Open 2", "mpich": "MPIC 2"}[scene.mpi]
    if seen != name:
        raise Skip(f"this mpi4py was built for the other MPI ({seen})")
    scene.mpirun(2, [python, "-c", script]).succeeded()
    same(calls_of(scene, "MPI_Allreduce"), {(0, "MPI_Allreduce"): 50, (1, "MPI_Allreduce"): 50}, "calls")
