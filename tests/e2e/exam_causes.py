#!/usr/bin/env python3
"""Runs each program of known cause (causes.py) several times and prints how often the first line of the report was right: the table of
docs/exams.md.

    exam_causes.py --library libmpiprof.so --report mpiprof-report [--runs N] [--mpi MPI] [--work DIR] [NAME ...]

A run whose machine others used for more than a tenth is repeated, up to three times, and counted. Exit code 1: one was wrong."""

import argparse
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import harness  # noqa: E402
from causes import CAUSES, is_right, judged, most_foreign, most_ranks  # noqa: E402


def examine(cause, mpi, options, work):
    """One row of the table, and whether all runs were right."""
    size, right, repeated, disturbed, others, waited = cause.size(mpi), 0, 0, 0, [], []
    for n in range(options.runs):
        scene = harness.Scene(f"exam.{n}", mpi, options.library.resolve(), options.report.resolve(), work)
        said = judged(scene, cause)
        repeated += said["runs"] - 1
        disturbed += said["foreign"] >= most_foreign
        if is_right(said, cause, size):
            right += 1
            if cause.waiting:
                # Of the whole run: that of the ranks that are waited for is in it, too.
                share = said["verdict"]["run_share"] or 0
                waited.append(share * size / (size - len(expand(cause.culprits(size)))))
        else:
            others.append(f"{said['verdict']['rule']} {said['verdict']['ranks'] or ''}".strip())
        shutil.rmtree(scene.dir, ignore_errors=True)
    waiting = f"{100 * cause.waiting:.1f} %, said {100 * sum(waited) / len(waited):.1f} %" if waited else ""
    said_instead = ", ".join(f"{others.count(o)} {o}" for o in dict.fromkeys(others))
    kind = {"f90": " in Fortran", "py": " in Python"}.get(cause.source.split(".")[-1], "")
    disturbances = "" if cause.rule == "unfinished" else f"{repeated}, {disturbed}"  # what the dead have used is nobody's
    print(f"| {cause.label}{kind} | {mpi} | {size} | {cause.rule} {cause.culprits(size) or ''} | {right} of {options.runs} | {said_instead} | {waiting} | {disturbances} |",
          flush=True)
    return right == options.runs


def expand(ranks):
    first, _, last = ranks.partition("-")
    return range(int(first), int(last or first) + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--report", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--mpi", choices=harness.MPIS, action="append")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "mpiprof-exam")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    print("| program | MPI | ranks | rule, ranks | right | said instead | waiting of the others | repeated, disturbed |\n|---|---|---|---|---|---|---|---|")
    all_right = True
    for cause in CAUSES:
        for mpi in options.mpi or harness.MPIS:
            if not 0 < cause.size(mpi) <= most_ranks or (options.names and cause.name not in options.names): continue
            try:
                all_right &= examine(cause, mpi, options, options.work.resolve())
            except harness.Skip as why:
                print(f"| {cause.label} | {mpi} | {cause.size(mpi)} | {cause.rule} | skipped: {why} | | | |")
    return 0 if all_right else 1


if __name__ == "__main__":
    sys.exit(main())
