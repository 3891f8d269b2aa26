#!/usr/bin/env python3
"""docs/columns.md is what --help of each section says of its columns; --write writes it. Run by ctest.

usage: columns.py ROOT REPORT [--write]"""

import pathlib
import re
import subprocess
import sys

HEAD = """# The columns

What the headings of each screen mean, as `mpiprof-report SECTION --help` has it; `mpiprof-report explain 'PER CALL'` explains one. This page is
written by `tests/docs/columns.py --write`; a test keeps them equal. How metrics are computed: [metrics.md](metrics.md); the names in csv and json:
[exports.md](exports.md#what-a-screen-shows).
"""

root, report = pathlib.Path(sys.argv[1]), sys.argv[2]


def said(*words): return subprocess.run([report, *words], check=True, text=True, stdout=subprocess.PIPE).stdout


def columns(section):
    """The headings of a section, and what they mean."""
    found = []
    part = said(section, "--help").split("\nColumns:\n", 1)
    lines = part[1].split("\n\n", 1)[0].splitlines() if len(part) == 2 else []
    for line in lines:
        named = re.match(r"  (\S.*?)  +(\S.*)", line)
        if named: found.append([named.group(1), named.group(2)])
        else: found[-1][1] += " " + line.strip()
    return found


sections = re.findall(r"^SECTION\((\w+)", (root / "report/sections/sections.def").read_text(), re.M)
page, count, wrong = HEAD, 0, []
for section in sections:
    rows = columns(section)
    count += len(rows)
    if not rows: wrong.append(section + " explains no column")
    page += f"\n## {section}\n\n| column | meaning |\n|---|---|\n" + "".join(f"| {name} | {text} |\n" for name, text in rows)
path = root / "docs/columns.md"
if "--write" in sys.argv: path.write_text(page)
if not path.exists() or path.read_text() != page: wrong.append("docs/columns.md is not what --help says: tests/docs/columns.py ROOT REPORT --write")
if len(sections) < 12 or count < 150: wrong.append(f"only {count} columns of {len(sections)} sections")
print("\n".join(wrong) or f"{count} columns of {len(sections)} sections are explained")
sys.exit(bool(wrong))
