#!/usr/bin/env python3
"""Asks a reporter of each recording of the exams, and holds its first sentence and all it says of whom against the rows of exams.py. CI
runs it, so a rule that is changed is judged on all recordings in seconds.

    judge.py --report mpiprof-report [--table] [NAME ...]    --table: what docs/exams.md has of it
    judge.py --report mpiprof-report --planted               a wrong row, and a miss that is known no longer, are told

A miss that is no row's `known` fails, and so does one that is mended and still known: take it out of its row."""

import argparse
import base64
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from exams import BEFORE, BY_CHANCE, EXAMS, FAIR, HERE, ranks_of, read_names  # noqa: E402

RECORDINGS = HERE / "recordings"
MOST_BYTES = 2_000_000
LEAST_RIGHT, LEAST_WITHOUT_FALSE, MOST_APART = 0.95, 0.98, 0.10
CLEARLY = 1.1
ACCUSE = ("slow-rank", "slow-node", "growing-work", "late-inside", "one-serves-all", "init", "finalize")
PAGE = """<!DOCTYPE html><meta name="generator" content="mpiprof-report exam">
<script type="application/x-mpiprof-launch">
{}</script>
<script type="application/x-mpiprof-names">
{}</script>
"""


@dataclasses.dataclass
class Answer:
    first: str  # rule:ranks at call function
    is_right: bool
    false: tuple
    waiting: float


def asked(report, recording, names):
    """As a page, which brings the names of its functions along: the programs are on no other machine."""
    with tempfile.NamedTemporaryFile("w", suffix=".html") as page:
        launch = base64.b64encode((RECORDINGS / f"{recording}.mpiprof").read_bytes()).decode()
        page.write(PAGE.format(launch, names[recording]))
        page.flush()
        ran = subprocess.run([report, "summary", "--format", "json", page.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if not ran.stdout: sys.exit(f"{recording}: {ran.stderr}")
    return json.loads(ran.stdout)


def named(said):
    return said["rule"] + (f":{said['ranks']}" if said["ranks"] else "")


def has_lost(exam, said):
    """Whether the run took clearly longer than the program's steps do. Where it waited for partners alone it did not."""
    return exam.seconds is not None and said["job"]["elapsed_ns"] > 1e9 * CLEARLY * exam.seconds


def false_in(exam, said):
    """What would be false of this program, wherever it stands on the summary."""
    rules = {answer.partition(":")[0] for answer in exam.right}
    for row in [said["verdict"], *said["findings"]]:
        if row["rule"] in ACCUSE and set(ranks_of(row["ranks"])) - exam.accusable(): yield f"accuses {named(row)}"
        if row["rule"] == "crowded" and row["severity"] == "serious" and "crowded" not in rules and not has_lost(exam, said): yield "crowded"
        if BY_CHANCE in row["text"] and not exam.chance: yield "chance"
        yield from (words for words in exam.never if words in row["text"])


def answer_of(exam, said):
    found = said["verdict"]
    site = f" at {found['site_call']} {found['site_function']}" if exam.site else ""
    sites = {exam.site, exam.site and (exam.also_at, exam.site[1])}
    is_right = bool({found["rule"], named(found)} & set(exam.right)) and (not exam.site or (found["site_call"], found["site_function"]) in sites)
    shares = {part["part"]: part["share"] for part in said["shares"]}
    return Answer(named(found) + site, is_right, tuple(sorted(set(false_in(exam, said)))), shares.get("waiting", 0) + shares.get("waiting_or_moving", 0))


def problems_of(exam, answers):
    """Where the answers are other than the row says."""
    for recording, answer in zip(exam.recordings(), answers):
        if not answer.is_right and answer.first not in exam.known: yield f"{recording}: {answer.first}, not {' or '.join(exam.right)}"
        yield from (f"{recording}: false: {what}" for what in answer.false if what not in exam.known_false)
    if exam.known and all(answer.is_right for answer in answers): yield f"{exam.label}: is right now, and `known` says otherwise"
    said = {what for answer in answers for what in answer.false}
    yield from (f"{exam.label}: no longer says {what}, which is `known_false`" for what in exam.known_false if what not in said)


def judged(report, exams):
    names = read_names(RECORDINGS / "names.json")
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        of = {recording: pool.submit(asked, report, recording, names) for exam in exams for recording in exam.recordings()}
        return {exam.label: [answer_of(exam, of[recording].result()) for recording in exam.recordings()] for exam in exams}


def share(count, of):
    return f"{count} of {of} ({100 * count / max(of, 1):.1f} %)"


def rates(exams, answers):
    """(text, right, without anything false, how far the waiting is from the truth in the median)"""
    all_answers = [answer for exam in exams for answer in answers[exam.label]]
    right, clean = sum(a.is_right for a in all_answers), sum(not a.false for a in all_answers)
    apart = [abs(a.waiting / exam.waiting - 1) for exam in exams if exam.waiting for a in answers[exam.label]]
    off = statistics.median(apart) if apart else 0
    text = f"first sentence right in {share(right, len(all_answers))}, nothing false in {share(clean, len(all_answers))}, waiting {100 * off:.1f} % off in the median"
    return text, right / len(all_answers), clean / len(all_answers), off


def table(exams, answers):
    """Rows that are not all right, and how many of each kind are."""
    lines = ["| programs | runs | first sentence right | nothing false |", "|---|---|---|---|"]
    for title, rows in (("healthy or merely uneven", FAIR), ("with one cause", [e for e in EXAMS if e not in FAIR and e not in BEFORE]), ("those of before", BEFORE)):
        of = [a for exam in rows if exam in exams for a in answers[exam.label]]
        if of: lines.append(f"| {title}: {len(rows)} | {len(of)} | {share(sum(a.is_right for a in of), len(of))} | {share(sum(not a.false for a in of), len(of))} |")
    lines += ["", "| not right | should be | says | false in it |", "|---|---|---|---|"]
    for exam in exams:
        of = answers[exam.label]
        if all(a.is_right and not a.false for a in of): continue
        firsts = [a.first for a in of if not a.is_right]
        says = ", ".join(f"{firsts.count(f)}x {f}" for f in dict.fromkeys(firsts)) or "right"
        false = ", ".join(sorted({what for a in of for what in a.false}))
        lines.append(f"| {exam.label} | {' or '.join(exam.right)}{' at ' + ' '.join(exam.site) if exam.site else ''} | {says} | {false} |")
    return "\n".join(lines)


def planted(report):
    """A healthy program of which a row says that rank 1 is slow, a slow one that nobody may accuse, and a known miss that is none."""
    healthy, slow = next(e for e in EXAMS if e.name == "stencil"), next(e for e in BEFORE if e.name == "slow_rank")
    rows = [dataclasses.replace(healthy, right=("slow-rank:1",)), dataclasses.replace(slow, right=("healthy",)),
            dataclasses.replace(healthy, known=("init",)), dataclasses.replace(healthy, known_false=("chance",))]
    for row in rows:
        if not list(problems_of(row, judged(report, [row])[row.label])): sys.exit(f"nothing is found wrong with {row}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", type=pathlib.Path, required=True)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME", help="labels of rows")
    options = parser.parse_args()
    if options.planted: return planted(options.report)
    exams = [exam for exam in EXAMS if not options.names or exam.label in options.names]
    answers = judged(options.report, exams)
    text, right, clean, off = rates(exams, answers)
    problems = [problem for exam in exams for problem in problems_of(exam, answers[exam.label])]
    if options.table: print(table(exams, answers) + "\n")
    print("\n".join(problems + [text]))
    weight = sum(file.stat().st_size for file in RECORDINGS.iterdir())
    if weight > MOST_BYTES: problems.append(f"the recordings are {weight} bytes, and {MOST_BYTES} is the most")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
