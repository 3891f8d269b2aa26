"""Where a Python program makes its calls: its own files and lines, read from the interpreter's frames."""

import json
import os
import shutil
import subprocess

from harness import PROGRAMS, Skip, case, check, same

PYTHONS = [f"python3.{minor}" for minor in range(9, 14)]


def lines_of(program):
    """{what a line calls: its number}, from the comments in the program itself."""
    found = {}
    for number, line in enumerate(program.read_text().splitlines(), 1):
        if f"# line {number}" in line:
            found.setdefault(line.split("#")[0].strip().split("(")[0].split(".")[-1], []).append(number)
    return found


def stacks(scene, directory):
    """{call: {stack: calls}}, a stack as "function:line < function:line ..."."""
    data = json.loads(scene.run_report("export", "-f", "json", cwd=directory).succeeded().out)
    found = {}
    for profile in profiles_in(data):
        modules, sites = profile["modules"], profile["sites"]
        for cell in profile["cells"]:
            frames = sites[cell["site"]]["frames"]
            check(all(os.path.basename(modules[f["module"]]["path"]) == "script.py" for f in frames) or not frames, "frames of the script")
            stack = " < ".join(f"{modules[f['module']]['function']}:{f['offset']}" for f in frames)
            per_stack = found.setdefault(cell["call"], {})
            per_stack[stack] = per_stack.get(stack, 0) + cell["calls"]
    return found


def profiles_in(data):
    if isinstance(data, dict):
        if "sites" in data and "modules" in data:
            yield data
        for value in data.values():
            yield from profiles_in(value)
    elif isinstance(data, list):
        for value in data:
            yield from profiles_in(value)


def expected(kind, ranks):
    program = PROGRAMS / "script.py"
    number = lines_of(program)
    low = number["Allreduce"][0] if kind == "mpi4py" else number["MPI_Allreduce"][0]
    inner, summe = number["low"]
    first, second = number["train"]
    outer = number["Größe"][0]
    return {f"low:{low} < train:{inner} < <module>:{first}": 5 * ranks, f"low:{low} < train:{inner} < <module>:{second}": 2 * ranks,
            f"low:{low} < summe:{summe} < <module>:{outer}": ranks}


@case(mpis=("openmpi",), ranks=2)
def sites_of_mpi4py_are_lines_of_the_script(scene):
    python = scene.python_with("mpi4py")
    scene.mpirun(2, [python, PROGRAMS / "script.py", "mpi4py"]).succeeded()
    same(stacks(scene, scene.dir)["MPI_Allreduce"], expected("mpi4py", 2), "stacks")


@case(mpis=("mpich",), ranks=2)
def sites_of_every_known_python_are_lines_of_the_script(scene):
    """Those that there are; TEST_PYTHONS names more of them, separated by colons."""
    wanted = [shutil.which(name) for name in PYTHONS] + os.environ.get("TEST_PYTHONS", "").split(":")
    ran = 0
    for python in filter(None, wanted):
        if subprocess.run([python, "-c", ""], capture_output=True).returncode != 0:
            continue
        directory = scene.subdir(f"python{ran}")
        command = ["env", f"LD_PRELOAD={scene.preload()}:{scene.mpi_library()}", python, PROGRAMS / "script.py", "ctypes"]
        scene.mpirun(2, command, profiled=None, cwd=directory).succeeded()
        same(stacks(scene, directory)["MPI_Allreduce"], expected("ctypes", 2), f"stacks of {python}")
        ran += 1
    if not ran:
        raise Skip("no python3.9 to python3.13 here")


@case(mpis=("mpich",), ranks=1)
def sites_of_a_library_that_a_script_uses_are_its_own(scene):
    source = scene.dir / "solver.c"
    source.write_text("#include <mpi.h>\nvoid solve(void) {\n    int in = 1, out;\n"
                      "    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n}\n")
    solver = scene.compile(source, "-shared", "-fPIC", name="libsolver.mpich.so")
    script = scene.dir / "use.py"
    script.write_text(f"import ctypes\nsolver = ctypes.CDLL({str(solver)!r})\nmpi = ctypes.CDLL(None)\nmpi.MPI_Init(None, None)\n"
                      "solver.solve()\nmpi.MPI_Finalize()\n")
    scene.alone(["/usr/bin/python3", script], profiled=False, env={"LD_PRELOAD": f"{scene.preload()}:{scene.mpi_library(solver)}"}).succeeded()
    lines = scene.run_report("sites", "--format", "csv").succeeded().out
    check("solver.c:4" in lines, f"the library's own line:\n{lines}")


@case(mpis=("openmpi",), ranks=1)
def depth_1_leaves_the_interpreter_alone(scene):
    python = scene.python_with("mpi4py")
    scene.mpirun(1, [python, PROGRAMS / "script.py", "mpi4py"], env={"MPIPROF_DEPTH": "1"}).succeeded()
    data = json.loads(scene.run_report("export", "-f", "json").succeeded().out)
    for profile in profiles_in(data):
        check(not any(module["path"].endswith("script.py") for module in profile["modules"]), "no line of the script")
