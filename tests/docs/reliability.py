#!/usr/bin/env python3
"""docs/reliability.md names tests for each case: every one that it names must exist, and each case has a number of its own.

usage: reliability.py ROOT"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
text = (root / "docs/reliability.md").read_text()
tests = "\n".join(p.read_text(errors="replace") for kind in ("*.py", "*.cpp") for p in (root / "tests").rglob(kind))
defined = set(re.findall(r"^def (\w+)\(", tests, re.M)) | {m for pair in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", tests, re.M) for m in pair}

rows = [line for line in text.splitlines() if re.match(r"\| \d+ \|", line)]
numbers = [int(line.split("|")[1]) for line in rows]
named = {name for line in rows for name in re.findall(r"`(\w+)`", line.split("|")[3])} - {"clock_mono"}
wrong = [f"no test is called {name}" for name in sorted(named - defined)]
if sorted(numbers) != list(range(1, len(rows) + 1)): wrong.append(f"the cases are not 1 to {len(rows)}, each once: {numbers}")
if "@" in text: wrong.append("a figure is missing")
print("\n".join(wrong) or f"{len(named)} tests of {len(rows)} cases exist")
sys.exit(bool(wrong))
