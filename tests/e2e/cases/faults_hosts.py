"""Programs of every build: the loader's odd cases, sanitizers, other allocators, other C++ libraries, MPI that comes and
goes. The library is preloaded into all of them and nobody notices."""

import os
import shutil
import subprocess

from acts import OpenPlace, count_of, our_lines
from harness import PROGRAMS, Skip, case, check, same

HELLO = '#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf("hello %d\\n", (int)geteuid()); return 4; }\n'


def build(scene, source, target, *flags, compiler="gcc"):
    ran = scene.alone([scene.tool(compiler), source, "-o", target, *flags], profiled=False)
    if ran.code != 0:
        raise Skip(f"{compiler} {' '.join(map(str, flags))} builds nothing here: {ran.err.strip().splitlines()[-1]}")
    return target


def hello(scene, name, *flags):
    (scene.dir / "hello.c").write_text(HELLO)
    return build(scene, "hello.c", scene.dir / name, *flags)


def alike(scene, argv, env=None, before=(), **options):
    """Output and exit code are those without us."""
    plain = scene.alone(argv, profiled=False, env={**(env or {}), **({"LD_PRELOAD": ":".join(map(str, before))} if before else {})}, **options)
    ours = scene.alone(argv, profiled=False, env={**(env or {}), "LD_PRELOAD": scene.preload(*before)}, **options)
    same((ours.code, ours.out, ours.err), (plain.code, plain.out, plain.err), " ".join(map(str, argv)))
    return ours


@case(mpis=(), ranks=1)
def static_and_setuid_programs_are_as_without_us(scene):
    same(alike(scene, [hello(scene, "static", "-static")]).code, 4, "exit code")
    if os.getuid() != 0:
        raise Skip("making a program setuid for somebody else needs root")
    with OpenPlace() as place:
        program = shutil.copy(hello(scene, "dynamic"), place)
        os.chmod(program, 0o4755)
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program]
        ran = alike(scene, nobody)
        same((ran.out, ran.code), ("hello 0\n", 4), "a setuid program")
        same(os.listdir(place), ["dynamic"], "files")


@case(mpis=(), ranks=1)
def library_that_is_missing_is_a_line_of_the_loaders_and_no_more(scene):
    for argv in (["/bin/true"], ["sh", "-c", "exit 3"]):
        plain = scene.alone(argv, profiled=False)
        ran = scene.alone(argv, profiled=False, env={"LD_PRELOAD": "/nowhere/libmpiprof.so"})
        same((ran.code, ran.out), (plain.code, plain.out), f"{argv}")
        check("/nowhere/libmpiprof.so" in ran.err and "ignored" in ran.err and ran.err.count("\n") == 1, f"stderr is {ran.err!r}")


@case(mpis=(), ranks=1)
def program_for_32_bits_gets_a_line_of_the_loaders_and_no_more(scene):
    program = hello(scene, "narrow", "-m32")
    plain, ours = scene.alone([program], profiled=False), scene.alone([program])
    same((ours.code, ours.out), (plain.code, plain.out), "exit code and stdout")
    check("wrong ELF class" in ours.err and ours.err.count("\n") == 1, f"stderr is {ours.err!r}")


SANITIZERS = ("address", "undefined", "thread")


def sanitized(scene, sanitizer, compiler):
    """ring.c built with a sanitizer by gcc or clang."""
    wrapped = {"openmpi": "OMPI_CC", "mpich": "MPICH_CC"}[scene.mpi]
    target = scene.dir / f"ring.{sanitizer}.{compiler}"
    ran = scene.alone([scene.mpicc(), "-g", f"-fsanitize={sanitizer}", PROGRAMS / "ring.c", "-o", target], profiled=False,
                      env={wrapped: scene.tool(compiler)})
    return target if ran.code == 0 else None


@case(ranks=2, tier="full")
def sanitized_programs_are_profiled(scene):
    """With gcc's address sanitizer as its documentation demands: its runtime first in LD_PRELOAD."""
    env = {"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "report_bugs=0"}
    tried = []
    for sanitizer in SANITIZERS:
        for compiler in ("gcc", "clang"):
            program = shutil.which(compiler) and sanitized(scene, sanitizer, compiler)
            if not program:
                print(f"not tried: {sanitizer} with {compiler} cannot be built here")
                continue
            before = []
            if sanitizer == "address" and compiler == "gcc":
                before = [subprocess.run(["gcc", "-print-file-name=libasan.so"], stdout=subprocess.PIPE, text=True).stdout.strip()]
            directory = scene.subdir(f"{sanitizer}.{compiler}")
            plain = scene.mpirun(2, [program, 30], profiled=None, env=env, cwd=scene.dir)
            if plain.code != 0:
                print(f"not tried: {sanitizer} with {compiler} fails without us ({plain.code})")
                continue
            ours = scene.mpirun(2, [program, 30], profiled="ranks", before=before, env=env, cwd=directory)
            same((ours.code, ours.out, ours.err), (plain.code, plain.out, plain.err), f"{sanitizer}, {compiler}")
            same(count_of(scene, directory), {0: 30, 1: 30}, f"calls, {sanitizer}, {compiler}")
            tried.append(f"{sanitizer}/{compiler}")
    print("tried:", *tried)
    if not tried:
        raise Skip("no sanitizer builds and runs here")


def found_library(*names):
    for name in names:
        for place in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"):
            if os.path.exists(f"{place}/{name}"):
                return f"{place}/{name}"
    return None


@case(ranks=2, tier="full")
def other_allocators_in_either_order_are_fine(scene):
    ring = scene.compile("ring.c")
    plain = scene.mpirun(2, [ring, 30], profiled=None).succeeded()
    tried = 0
    for name in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4"):
        allocator = found_library(name)
        if not allocator:
            print(f"not tried: {name} is not installed")
            continue
        for preload in ([allocator, scene.library], [scene.library, allocator]):
            directory = scene.subdir(f"{name}.{preload.index(allocator)}")
            ran = scene.mpirun(2, [ring, 30], profiled=None, env={"LD_PRELOAD": ":".join(map(str, preload))}, cwd=directory)
            same((ran.code, ran.out, ran.err), (plain.code, plain.out, plain.err), f"{preload}")
            same(count_of(scene, directory), {0: 30, 1: 30}, f"calls, {preload}")
            tried += 1
    if not tried:
        raise Skip("neither jemalloc nor tcmalloc is installed")


@case(mpis=(), ranks=1)
def another_libstdcxx_is_nothing_to_us(scene):
    """An empty one in LD_LIBRARY_PATH, as an old one of conda's; and an extension's own, found by its RUNPATH. A preload
    that needs libstdc++ ends every command in the first case, and the import in the second."""
    old, new = scene.subdir("old"), scene.subdir("new")
    (scene.dir / "empty.c").write_text("int empty;\n")
    build(scene, "empty.c", old / "libstdc++.so.6", "-shared", "-fPIC", "-Wl,-soname,libstdc++.so.6")
    for argv in (["/bin/true"], ["sh", "-c", "echo one; exit 3"], ["gcc", "--version"]):
        alike(scene, argv, env={"LD_LIBRARY_PATH": old})

    system = subprocess.run(["g++", "-print-file-name=libstdc++.so.6"], stdout=subprocess.PIPE, text=True).stdout.strip()
    if not os.path.isabs(system):
        raise Skip("no libstdc++.so.6 to copy")
    shutil.copy(os.path.realpath(system), new / "libstdc++.so.6")
    host = scene.compile("host.c", "-ldl", compiler="gcc", label="")
    extension = scene.compile("extension.cpp", "-shared", "-fPIC", "-ldl", f"-Wl,-rpath,{new},--enable-new-dtags",
                              compiler=scene.tool("g++"), label="", name=f"extension_with_runpath.{scene.mpi}.so")
    ran = alike(scene, [host, 5, extension])
    same(ran.code, 0, "exit code")
    check(f"libstdc++ from {new}" in ran.out, f"the extension's own libstdc++ is used:\n{ran.out}")


@case(ranks=1)
def exceptions_of_an_extension_module_are_unwound_as_without_us(scene):
    """In a program that is not C++, beside a plugin that uses MPI: thrown and caught by the compiler's own unwinder."""
    host = scene.compile("host.c", "-ldl", compiler="gcc", label="")
    extension = scene.compile("extension.cpp", "-shared", "-fPIC", "-ldl", compiler=scene.tool("g++"), label="", name="extension.so")
    plugin = scene.shared_object("plugin.c")
    ran = alike(scene, [host, 40, extension, plugin, extension])
    same(ran.code, 0, "exit code")
    check(ran.out.count("libgcc_s.so.1") == 2 and ran.out.count("40 of 40 caught") == 2, f"stdout:\n{ran.out}")
    same(count_of(scene, scene.dir, "MPI_Allreduce"), {0: 40}, "calls")


@case(ranks=2)
def mpi_from_a_constructor_to_a_destructor_is_counted_whole(scene):
    """MPI_Init in a library's constructor; calls in main, in a thread's and a library's destructor and in atexit; and
    MPI_Finalize in that destructor, after ours has run."""
    library = scene.compile("lifelong.c", "-shared", "-fPIC", "-DLIBRARY", name=f"liblifelong.{scene.mpi}.so")
    program = scene.compile("lifelong.c", "-pthread", library, f"-Wl,-rpath,{scene.bin}")
    plain = scene.mpirun(2, [program, 25], profiled=None).succeeded()
    for store in ("mapped", "written"):
        directory = scene.subdir(store)
        ours = scene.mpirun(2, [program, 25], cwd=directory, env={"MPIPROF_STORE": store}).succeeded()
        same((ours.out, ours.err), (plain.out, plain.err), f"output, {store}")
        same(count_of(scene, directory, "MPI_Allreduce"), {0: 53, 1: 53}, f"calls, {store}")


@case(ranks=1)
def mpi_library_may_be_closed_again(scene):
    """dlclose of a plugin, and with it of its MPI library; and what is loaded into its place."""
    host = scene.compile("host.c", "-ldl", compiler="gcc", label="")
    extension = scene.compile("extension.cpp", "-shared", "-fPIC", "-ldl", compiler=scene.tool("g++"), label="", name="extension.so")
    plugin = scene.shared_object("plugin.c")
    ran = alike(scene, [host, 40, plugin, extension], env={"HOST_CLOSES": "1"})
    same(ran.code, 0, "exit code")
    same(our_lines(ran), [], "lines of ours")
    same(count_of(scene, scene.dir, "MPI_Allreduce"), {0: 40}, "calls")


@case(ranks=2, tier="full")
def children_of_python_multiprocessing_change_nothing(scene):
    """A pool of forked workers, as data loaders make, between calls of the parent; the workers have MPI loaded, too."""
    python = scene.python_with("mpi4py")
    script = ("import multiprocessing as mp\nfrom mpi4py import MPI\nw = MPI.COMM_WORLD\n"
              "def work(x): return x * x + 0 * MPI.COMM_WORLD.rank\n"
              "total = 0\n"
              "for i in range(5):\n"
              "    w.Barrier()\n"
              "    with mp.get_context('fork').Pool(2) as pool: total += sum(pool.map(work, range(10)))\n"
              "w.Barrier()\nif w.rank == 0: print(w.size, total, flush=True)\n")
    plain = scene.mpirun(2, [python, "-c", script], profiled=None).succeeded()
    if plain.out.split()[0] != "2":
        raise Skip("this mpi4py was built for the other MPI: singletons")
    for store in ("mapped", "written"):
        directory = scene.subdir(store)
        ours = scene.mpirun(2, [python, "-c", script], cwd=directory, env={"MPIPROF_STORE": store, "MPIPROF_PERIOD": "0.1"}).succeeded()
        same((ours.out, our_lines(ours)), (plain.out, []), f"output, {store}")
        same(count_of(scene, directory, "MPI_Barrier"), {0: 6, 1: 6}, f"calls, {store}")
