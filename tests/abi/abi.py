#!/usr/bin/env python3
"""Runs the fake MPI libraries with libmpiprof.so in front of them, natively or under an emulator.

abi.py FAMILY --library libmpiprof.so --report mpiprof-report --work DIR [--compiler g++] [--emulator qemu-aarch64 ...]

FAMILY is mpich (int handles), standard (MPI 5, pointers) or unknown. Every argument of every function must arrive as it was
passed, with and without the library, and the profile must say what the program booked."""

import argparse
import collections
import json
import os
import pathlib
import re
import shlex
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
sys.dont_write_bytecode = True

from harness import Failed, Scene, check, differences, execute, read_tables, same, without_start_and_end  # noqa: E402


def build(arguments, directory):
    common = [*shlex.split(arguments.compiler), "-std=c++20", "-O1", "-g", "-fPIC", "-I", ROOT, f"-DFAKE_{arguments.family.upper()}"]
    library, program = directory / f"libfake_{arguments.family}.so", directory / f"program_{arguments.family}"
    execute([*common, "-shared", HERE / "fake.cpp", "-o", library], timeout=200).succeeded()
    execute([*common, HERE / "program.cpp", library, "-o", program], timeout=200).succeeded()
    execute([*common, HERE / "fetch.cpp", "-Wl,--export-dynamic", "-ldl", "-o", directory / "fetch"], timeout=200).succeeded()
    execute([*common, HERE / "callers.cpp", library, "-pthread", "-o", directory / "callers"], timeout=200).succeeded()
    # qemu maps a file by this machine's pages: of a larger one that the file's end lies in, what is behind it would be missing.
    for file in (library, program, directory / "callers", directory / "fetch"):
        os.truncate(file, file.stat().st_size + -file.stat().st_size % 65536)
    return program


def run(arguments, scene, command, name, preload=()):
    """Runs the command in a directory of its own; the emulator is told the program's environment, so as not to be
    preloaded itself."""
    directory = scene.subdir(name)
    variables = {"LD_LIBRARY_PATH": command[0].parent}
    if preload:
        variables["LD_PRELOAD"] = ":".join(str(p.resolve()) for p in preload)
    if arguments.emulator:
        sets = [word for name, value in variables.items() for word in ("-E", f"{name}={value}")]
        command, variables = [*shlex.split(arguments.emulator), *sets, *command], {}
    return directory, execute(command, cwd=directory, env=scene.environment(variables), timeout=150)


def check_profile(scene, directory):
    expected = read_tables(directory / "expected.csv")
    rows = scene.export_rows(cwd=directory)
    found = {key: value for key, value in without_start_and_end(scene.export(cwd=directory)).items() if value != (0, 0)}
    check(found == expected, "(rank, call, bin) -> (calls, bytes):\n" + differences(found, expected))
    errors = {}
    for row in rows:
        if int(row["errors"]):
            key = int(row["rank"]), row["call"], 0
            errors[key] = errors.get(key, 0) + int(row["errors"])
    return errors


def run_family(arguments, scene):
    program = build(arguments, scene.dir)
    everything = [program, "all", "expected"]
    _, plain = run(arguments, scene, everything, "plain")
    directory, ours = run(arguments, scene, everything, "profiled", [arguments.library])
    same((plain.code, plain.err), (0, ""), "exit code and stderr without the library")
    same((ours.code, ours.out, ours.err), (plain.code, plain.out, plain.err), "exit code and output with it")
    found = check_profile(scene, directory)
    expected = {key: calls for key, (calls, _) in read_tables(directory / "expected.errors").items()}
    check(found == expected, "(rank, call, 0) -> errors:\n" + differences(found, expected))
    summary = " ".join(scene.run_report(cwd=directory).succeeded().out.split())
    same("is not recognised" in summary, arguments.family == "unknown", f"whether an unknown MPI is said:\n{summary}")

    if arguments.family != "unknown":
        directory, ours = run(arguments, scene, [program, "again", "expected"], "again", [arguments.library])
        same((ours.code, ours.err), (0, ""), "exit code and stderr of three sessions")
        check_profile(scene, directory)
        text = next(directory.glob("mpi_profile.*.txt")).read_text()
        check(re.search(r"^MPI_Send +2 +24\.0 ", text, re.M), f"the text was not written again after the last session:\n{text}")


def run_callers(arguments, scene):
    """Callers behind one function are told apart, with their lines, in the first thread and in another."""
    directory, ours = run(arguments, scene, [scene.dir / "callers"], "callers_seen", [arguments.library])
    same((ours.code, ours.out, ours.err), (0, "120 calls, 0 wrong\n", ""), "callers")
    found = collections.Counter()
    for row in json.loads(scene.run_report("sites", "--format", "json", cwd=directory).succeeded().out)["sites"]:
        frames = [frame.split() for frame in row["stack"].split(" < ")]
        found[tuple(frame[-1] for frame in frames[:2])] += row["calls_total"]
    same(dict(found), {("meet", "first"): 60, ("meet", "second"): 40, ("meet", "call_all"): 20}, "(function, its caller): calls")


def run_fetched(arguments, scene):
    """Functions fetched by dlsym, with the hook beside the library, alone, and with neither."""
    hook = arguments.library.with_name("libmpiprof-dlsym.so")
    if arguments.family == "unknown" or not hook.exists():
        return
    command = [scene.dir / "fetch", scene.dir / f"libfake_{arguments.family}.so", "expected"]
    _, plain = run(arguments, scene, command, "fetch_plain")
    same((plain.code, plain.out, plain.err), (0, "5 calls, 0 wrong\n", ""), "fetched functions without the hook")
    for name, preload in (("fetch_hook", [hook]), ("fetch_seen", [arguments.library, hook])):
        directory, ours = run(arguments, scene, command, name, preload)
        same((ours.code, ours.out, ours.err), (plain.code, plain.out, plain.err), name)
    check_profile(scene, directory)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=("mpich", "standard", "unknown"))
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--report", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--emulator", default="")
    arguments = parser.parse_args()
    for tool in (arguments.compiler, arguments.emulator):
        if tool and not shutil.which(shlex.split(tool)[0]):
            print(f"SKIPPED: there is no {shlex.split(tool)[0]} here")
            return 77
    root = re.search(r"-L (\S+)", arguments.emulator)
    if root and not pathlib.Path(root[1], "lib/ld-linux-aarch64.so.1").exists():
        print(f"SKIPPED: there are no libraries in {root[1]}")
        return 77
    scene = Scene(f"abi_{arguments.family}", "_".join(re.findall(r"\w+", arguments.emulator)) or "native", arguments.library.resolve(),
                  arguments.report.resolve(), arguments.work.resolve())
    try:
        run_family(arguments, scene)
        run_fetched(arguments, scene)
        run_callers(arguments, scene)
    except Failed as failure:
        print(f"FAILED: {failure}\nits directory: {scene.dir}")
        return 1
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
