#!/usr/bin/env python3
"""Holds docs/reading-the-report.md against the summaries of the goldens: every heading and row of the screen is explained.

annotated_summary.py ROOT    the headings of tables, the rows of PER RANK and EFFICIENCY, and the parts of the bar
"""

import glob
import os
import re
import sys

ONLY_HERE = {"RANKS": "RANKS 0..N"}  # as the page spells what differs between jobs


def words_of(text):
    """Headings of a summary, and the first column of the tables that are rows of figures."""
    lines = text.split("\n")
    for line in lines:
        # A heading: words in capitals, two blanks between them.
        cells = re.split(r" {2,}", line.strip())
        if line.startswith("  ") and len(cells) >= 2 and all(re.fullmatch(r"[-%A-Z][-%A-Z .0-9]*", cell) for cell in cells):
            for cell in cells: yield "RANKS" if re.fullmatch(r"RANKS \d+\.\.\d+", cell) else cell.strip()
        elif re.fullmatch(r"  (EFFICIENCY \(POP\)|FINDINGS|OTHER LAUNCHES HERE)", line): yield line.strip().split(" ")[0]
    table = False
    for line in lines:
        if line.startswith("  EFFICIENCY"): table = True
        elif table and not re.match(r" {2,4}[a-z][a-z ]*? {2,}\d", line): table = False
        elif table: yield re.split(r" {2,}", line.strip())[0]
        for row in ("in MPI", "outside MPI"):
            if line.startswith("  %s " % row) and re.search(r"\d s|\d ms", line): yield row


def main():
    root = sys.argv[1]
    page = open(os.path.join(root, "docs/reading-the-report.md"), encoding="utf-8").read().split("## 1. The verdict")[1]
    goldens = sorted(glob.glob(os.path.join(root, "tests/report/golden/screens/*.summary.txt")))
    words = {}
    for golden in goldens:
        for word in words_of(open(golden, encoding="utf-8").read()): words.setdefault(word, os.path.basename(golden))
    missing = ["%s, in %s" % (word, golden) for word, golden in sorted(words.items())
               if not re.search(r"(?<![A-Za-z])%s(?![A-Za-z])" % re.escape(ONLY_HERE.get(word, word)), page, 0 if word.isupper() else re.I)]
    for line in missing: print("docs/reading-the-report.md does not explain " + line)
    print("%d words of %d summaries" % (len(words), len(goldens)))
    return 1 if missing or len(words) < 15 or len(goldens) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
