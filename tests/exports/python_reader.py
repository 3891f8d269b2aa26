"""python/mpiprof.py against the reporter: the same figures from the same files, with and without pandas, from a directory
from a merged file and from a page; and nothing worse than a sentence from files that are damaged.

  python_reader.py REPORT WRITE_STORIES MPIPROF_PY
"""

import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile

import workbench

failures = []


def expect(is_so, *what):
    if not is_so: failures.append(" ".join(map(str, what)))


def loaded_module(path):
    spec = importlib.util.spec_from_file_location("mpiprof", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.pandas = None  # rows are dicts, whatever is installed here
    return module


def as_csv(python, script, directory):
    ran = subprocess.run([python, "-B", script, directory, "calls"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return ran.stdout.decode() if ran.returncode == 0 else "ended with %d: %s" % (ran.returncode, ran.stderr.decode())


def compare_ranks(name, job, exported):
    ranks = {rank["rank"]: rank for rank in exported["ranks"] if rank["state"] != "missing"}
    expect(len(job.ranks) == len(ranks), name, "has", len(job.ranks), "ranks for", len(ranks))
    same = ("state", "host", "process_ns", "mpi_ns", "message_bytes", "file_bytes", "init_ns", "finalize_ns", "paused_ns", "pid",
            "started_at_ns", "elapsed_ns", "exit_code")
    for row in job.ranks:
        theirs = ranks[row["rank"]]
        # Of those without an end the reporter estimates one.
        for key in same if theirs["state"] in ("finalized", "aborted", "exited") else ("state", "host", "mpi_ns", "message_bytes"):
            expect(row[key] == theirs[key], name, "rank", row["rank"], key, row[key], theirs[key])
    mpi_ns = {rank: 0 for rank in ranks}
    for row in job.sites: mpi_ns[row["rank"]] += row["time_ns"]
    for rank, ns in mpi_ns.items(): expect(ns == ranks[rank]["mpi_ns"], name, "sites of rank", rank, ns, ranks[rank]["mpi_ns"])


def compare_peers(name, job, exported):
    ours = sorted((row["rank"], row["peer"], row["kind"], row["sent_messages"], row["sent_bytes"], row["sent_ns"], row["received_ns"])
                  for row in job.peers if row["peer"] is not None)
    theirs = sorted((rank["rank"], peer["rank"], peer["kind"], peer["sent"]["messages"], peer["sent"]["bytes"], peer["sent"]["time_ns"],
                     peer["received"]["time_ns"]) for rank in exported["ranks"] for peer in rank.get("peers", []))
    expect(ours == theirs, name, "peers", ours[:2], theirs[:2])


def main():
    report, write_stories, script = sys.argv[1:]
    with open(script, encoding="utf-8") as file: ast.parse(file.read(), feature_version=(3, 9))
    mpiprof = loaded_module(script)
    pythons = dict.fromkeys([sys.executable] + [workbench.DEBIANS] * os.path.exists(workbench.DEBIANS))
    jobs = workbench.Jobs(write_stories)
    compared = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name in jobs:
            directory, merged, page = jobs.directory(name), os.path.join(scratch, name + ".mpiprof"), os.path.join(scratch, name + ".html")
            wanted = workbench.reported(report, "export", "-f", "csv", directory)
            workbench.reported(report, "merge", "-o", merged, directory)
            workbench.reported(report, "html", "-o", page, directory)
            # Of two jobs also by the Python that may have pandas, which takes its time to begin.
            for python in pythons if name in ("every_part", "device_buffers") else [sys.executable]:
                for source in (directory, merged, page):
                    text = as_csv(python, script, source)
                    expect(text == wanted, name, python, source, next(
                        ("\n  %s\n  %s" % pair for pair in zip(text.splitlines(), wanted.splitlines()) if pair[0] != pair[1]), "lengths"))
                    compared += 1
            job = mpiprof.load(directory)
            exported = json.loads(workbench.reported(report, "export", "-f", "json", directory))
            compare_ranks(name, job, exported)
            compare_peers(name, job, exported)
            expect(job.missing == [r for r in range(exported["size"]) if r not in {x["rank"] for x in job.ranks}], name, job.missing)
        what_is_wrong_is_said(mpiprof, script, jobs.directory("every_part"))
        damage(mpiprof, jobs.directory("every_part"), os.path.join(scratch, "every_part.mpiprof"), scratch)
    for line in failures[:20]: print(line)
    print("%d tables compared" % compared)
    sys.exit(1 if failures else 0)


def what_is_wrong_is_said(mpiprof, script, directory):
    def ran(*words): return subprocess.run([sys.executable, "-B", script, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    wrong = ran(directory, "halls")
    expect(wrong.returncode == 2 and b"halls is no table; there are calls, ranks" in wrong.stderr, wrong)
    try:
        mpiprof.load(directory, job="99")
        expect(False, "job 99 is there")
    except mpiprof.ProfileError as error:
        expect("no profile of job 99 in " in str(error), error)
    # As `mpiprof run` leaves them.
    with tempfile.TemporaryDirectory() as here:
        shutil.copytree(directory, os.path.join(here, "mpiprof.4711"))
        expect(len(mpiprof.load(here).profiles) == len(mpiprof.load(directory).profiles) > 0, "profiles below mpiprof.4711")
    # A reader that is gone before the first line.
    behind, before = os.pipe()
    os.close(behind)
    cut = subprocess.run([sys.executable, "-B", script, directory], stdout=before, stderr=subprocess.PIPE, check=False)
    os.close(before)
    expect(cut.stderr == b"", "a closed pipe:", cut.stderr)


def damage(mpiprof, directory, merged, scratch):
    """Cut off or changed anywhere, a file is read, or there is a sentence."""
    tried = 0
    for source in (os.path.join(directory, "mpi_profile.4711.0"), merged):
        with open(source, "rb") as file: whole = file.read()
        step = max(1, len(whole) // 97)
        for at in range(0, len(whole), step):
            for bytes_ in (whole[:at], whole[:at] + bytes(byte ^ 0xff for byte in whole[at:at + 8]) + whole[at + 8:]):
                path = os.path.join(scratch, "mpi_profile.damaged")
                with open(path, "wb") as file: file.write(bytes_)
                try:
                    job = mpiprof.load(path)
                    for table in ("calls", "ranks", "sites", "peers", "time"): getattr(job, table)
                except mpiprof.ProfileError as error:
                    expect(str(error) and "\n" not in str(error), at, error)
                except Exception as error:  # pylint: disable=broad-except
                    expect(False, os.path.basename(source), "with damage at", at, repr(error))
                tried += 1
    expect(tried > 300, "only", tried, "damaged files were tried")


if __name__ == "__main__": main()
