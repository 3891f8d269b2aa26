#!/usr/bin/env python3
"""docs/reading-the-report.md has a heading for each rule of the report, and none for a rule that is not there.

usage: rules.py ROOT"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
rules = re.findall(r'Name\{Rule::\w+, "([\w-]+)"\}', (root / "report/analysis/finding.cpp").read_text())
page = (root / "docs/reading-the-report.md").read_text()
headings = re.findall(r"^### (.*)$", page, re.M)
wrong = [f"{rule} has no heading" for rule in rules if headings.count(rule) != 1]
wrong += [f"{heading} is no rule" for heading in headings if heading not in rules]
if len(rules) < 20: wrong.append(f"only {len(rules)} rules were found")
if "@" in page: wrong.append("a figure is missing")
print("\n".join(wrong) or f"{len(rules)} rules have their headings")
sys.exit(bool(wrong))
