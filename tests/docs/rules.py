#!/usr/bin/env python3
"""docs/rules.md is what `mpiprof-report explain all` says, with a heading for each rule; --write writes it.

usage: rules.py ROOT REPORT [--write]"""

import pathlib
import re
import subprocess
import sys
import textwrap

HEAD = """# The rules

What the words in brackets behind a finding mean. This page is `mpiprof-report explain all`, written by `tests/docs/rules.py --write`; a test keeps
them equal. How a report is read: [reading-the-report.md](reading-the-report.md).
"""

said = subprocess.run([sys.argv[2], "explain", "all"], check=True, text=True, stdout=subprocess.PIPE).stdout
page, ids = HEAD, []
for rule in said.strip("\n").split("\n\n"):
    word, text = rule.split("\n", 1)
    ids.append(word)
    page += f"\n### {word}\n"
    for part in re.split(r" (?=Evidence: |Check: )", " ".join(text.split())):
        page += "\n" + textwrap.fill(re.sub(r"^(\w+): ", r"*\1.* ", part), 140, break_long_words=False, break_on_hyphens=False) + "\n"
path = pathlib.Path(sys.argv[1]) / "docs/rules.md"
if "--write" in sys.argv: path.write_text(page)
rows = len(re.findall(r"^RULE\(", (pathlib.Path(sys.argv[1]) / "report/analysis/rules.def").read_text(), re.M))
wrong = []
if rows < 20 or len(ids) < rows: wrong.append(f"{rows} rows in rules.def, {len(ids)} rules explained")
if path.read_text() != page: wrong.append("docs/rules.md is not what `mpiprof-report explain all` says: tests/docs/rules.py ROOT REPORT --write")
# A reader does what a text says: its commands are those of this program, with columns that there are.
job = pathlib.Path(sys.argv[1]) / "share/demo/small-messages.mpiprof"
commands = sorted(set(re.findall(r"mpiprof-report ([a-z]+(?: --[a-z-]+(?: [a-z_]+)?)*)", " ".join(said.split()))))
for command in commands:
    words = command.split()
    if words[0] in ("explain", "check", "text", "watch", "hang") and len(words) == 1: continue
    if words[-1].startswith("--"): words.pop()  # the line ends there, or its value is one to be chosen
    if words[0] in ("diff", "scaling"): continue  # of several runs
    ran = subprocess.run([sys.argv[2], *words, str(job)], text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if ran.returncode == 2: wrong.append(f"mpiprof-report {command}: {ran.stderr.strip()}")
if len(commands) < 12: wrong.append(f"only {len(commands)} commands were found in the texts")
print("\n".join(wrong) or f"{len(ids)} rules are explained")
sys.exit(bool(wrong))
