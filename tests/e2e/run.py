#!/usr/bin/env python3
"""Lists the end-to-end cases for CMake, or runs one of them.

    run.py list                          one line each: name|mpi|ranks|tier|timeout
    run.py run NAME --mpi openmpi --library libmpiprof.so --report mpiprof-report --work DIR
               [--root ROOT]         under qemu-user, with the MPIs for aarch64 of this folder (aarch64_root)
               [--page-bytes N]      with pages of this size there

Exit code 0 passed, 1 failed, 77 cannot be tried here (ctest says Skipped)."""

import argparse
import importlib
import pathlib
import sys
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import aarch64  # noqa: E402
import harness  # noqa: E402


def load_cases():
    for path in sorted((HERE / "cases").glob("*.py")):
        importlib.import_module(f"cases.{path.stem}")
    gone = harness.OF_EACH_MPI - {path.stem for path in (HERE / "cases").glob("*.py")}
    if gone: sys.exit(f"OF_EACH_MPI names no file of cases: {', '.join(sorted(gone))}")


def list_cases():
    for case in harness.CASES:
        for mpi in case.mpis or ("none",):
            print(f"{case.name}|{mpi}|{case.ranks}|{case.tier_of(mpi)}|{case.timeout}")


def run_case(arguments):
    case = next((c for c in harness.CASES if c.name == arguments.name), None)
    if case is None:
        sys.exit(f"no case is called {arguments.name}")
    for left in reversed(range(case.attempts)):
        code = attempt(case, arguments)
        if code != 1 or not left:
            return code
        print(f"once more: attempt {case.attempts - left + 1} of {case.attempts}")


def scene_of(case, arguments):
    places = [pathlib.Path(path).resolve() for path in (arguments.library, arguments.report, arguments.work)]
    if not arguments.root: return harness.Scene(case.name, arguments.mpi, *places)
    return aarch64.EmulatedScene(case.name, arguments.mpi, *places, pathlib.Path(arguments.root).resolve(), arguments.page_bytes)


def attempt(case, arguments):
    scene = None
    try:
        scene = scene_of(case, arguments)
        case.function(scene)
    except harness.Skip as reason:
        print(f"SKIP {case.name}: {reason}")
        return harness.SKIP_CODE
    except harness.Failed as failure:
        where = traceback.extract_tb(failure.__traceback__)
        line = next((f for f in reversed(where) if "/cases/" in f.filename), where[-1])
        print(f"FAILED {case.name} under {scene.mpi}, {pathlib.Path(line.filename).name}:{line.lineno}\n{failure}")
        print(f"its directory: {scene.dir}")
        return 1
    finally:
        if scene: harness.end_who_is_left(scene.dir)
    print(f"passed {case.name} under {scene.mpi}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list")
    run = verbs.add_parser("run")
    run.add_argument("name")
    for option in ("--mpi", "--library", "--report", "--work"):
        run.add_argument(option, required=True)
    run.add_argument("--root")
    run.add_argument("--page-bytes", type=int, default=4096)
    arguments = parser.parse_args()
    load_cases()
    if arguments.verb == "list":
        list_cases()
        return 0
    return run_case(arguments)


if __name__ == "__main__":
    sys.exit(main())
