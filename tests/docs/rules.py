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
print("\n".join(wrong) or f"{len(ids)} rules are explained")
sys.exit(bool(wrong))
