#!/usr/bin/env python3
"""Every relative link of the project's pages leads to a file, and every #anchor to a heading; docs/index.md leads to every page.

links.py ROOT
"""

import os
import re
import sys

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def pages(root):
    for directory, subdirectories, names in os.walk(root):
        subdirectories[:] = sorted(name for name in subdirectories if not name.startswith((".", "build", "__")))
        for name in sorted(names):
            if name.endswith(".md"): yield os.path.join(directory, name)


def anchors_of(path):
    with open(path, encoding="utf-8") as page: text = re.sub(r"^```.*?^```", "", page.read(), flags=re.M | re.S)
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        yield re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def problems(root):
    for path in pages(root):
        with open(path, encoding="utf-8") as page: text = re.sub(r"^```.*?^```", "", page.read(), flags=re.M | re.S)
        for target in LINK.findall(text):
            if re.match(r"[a-z]+:", target): continue
            name, _, anchor = target.partition("#")
            there = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.exists(there): yield "%s: %s is not there" % (os.path.relpath(path, root), target)
            elif anchor and there.endswith(".md") and anchor not in anchors_of(there):
                yield "%s: %s has no such heading" % (os.path.relpath(path, root), target)
    with open(os.path.join(root, "docs/index.md"), encoding="utf-8") as index: linked = set(LINK.findall(index.read()))
    for name in sorted(os.listdir(os.path.join(root, "docs"))):
        if name.endswith(".md") and name != "index.md" and name not in linked: yield "docs/index.md: does not lead to %s" % name


def main():
    found = list(problems(sys.argv[1]))
    print("\n".join(found) if found else "all links lead somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
