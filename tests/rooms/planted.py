#!/usr/bin/env python3
"""Plants violations into small trees and sees rooms.py find each of them; and a clean tree pass."""

import os
import sys
import tempfile

import rooms

PAGE = """# The house
```rooms
libmpiprof/format :
libmpiprof/calls  : libmpiprof/format
report/model      :
report            : report/model
tests             : *
```
"""
CLEAN = {
    "docs/architecture.md": PAGE,
    "libmpiprof/format/layout.h": "#pragma once\nstruct Layout {};\n",
    "libmpiprof/calls/call.h": '#pragma once\n#include "libmpiprof/format/layout.h"\ninline Layout layout;\n',
    "libmpiprof/calls/calls.def": "ROW(a)\n",
    "report/model/job.h": "#pragma once\n",
    "report/main.cpp": '#include "report/model/job.h"\n',
    "tests/unit/some.cpp": '#include "libmpiprof/calls/call.h"\n#include <mpi.h>\n',
}

# What is planted, and what has to be said of it.
PLANTED = [
    ({"libmpiprof/format/up.h": '#include "libmpiprof/calls/call.h"\n'},
     "libmpiprof/format/up.h:1: libmpiprof/format may not include libmpiprof/calls"),
    ({"report/model/bridge.h": '\n  #  include "libmpiprof/format/layout.h"\n'},
     "report/model/bridge.h:2: report/model may not include libmpiprof/format"),
    ({"libmpiprof/calls/near.h": '#include "call.h"\n'}, 'libmpiprof/calls/near.h:1: "call.h" is not spelled from the root'),
    ({"libmpiprof/attic/old.h": "\n"}, "libmpiprof/attic/old.h: lies in no room"),
    ({"report/attic/old.h": "\n"}, "report/attic/old.h: lies in no room"),
    ({"libmpiprof/attic/old.h": "\n", "report/main.cpp": '#include "libmpiprof/attic/old.h"\n'},
     "report/main.cpp:1: report may not include libmpiprof/attic"),
    ({"libmpiprof/calls/calls.def": '#include "libmpiprof/format/layout.h"\n'}, "is data and includes nothing"),
    ({"libmpiprof/calls/native.h": "#include <mpi.h>\n"}, "libmpiprof/calls/native.h:1: the product is built without mpi.h"),
    ({"docs/architecture.md": PAGE.replace("libmpiprof/format :", "libmpiprof/format : libmpiprof/calls")},
     "libmpiprof/calls can reach itself"),
    ({"docs/architecture.md": PAGE.replace("report            : report/model", "report : report/modle")},
     "report may include report/modle, which is no room"),
    ({"report/model/a.h": "", "report/model/a.cpp": '#include "report/model/b.h"\n',
      "report/model/b.h": '#include "report/model/c.h"\n', "report/model/c.h": '#include "report/model/a.h"\n'},
     "report/model/a: includes itself in a circle of units"),
    ({"libmpiprof/calls/a.h": '#include "libmpiprof/calls/b.h"\n', "libmpiprof/calls/b.cpp": '#include "libmpiprof/calls/a.h"\n',
      "libmpiprof/calls/b.h": ""},
     "libmpiprof/calls/a: includes itself in a circle of units"),
]
PLANTED_HEADERS = [
    ({"report/model/needy.h": "#pragma once\ninline std::string name;\n"}, "report/model/needy.h: does not compile alone"),
    ({"report/model/unguarded.h": "struct Twice {};\n"}, "report/model/unguarded.h: does not compile alone"),
    ({"report/model/unguarded.h": "struct Twice {};\n", "report/model/unguarded.cpp": '#include "report/model/unguarded.h"\n'},
     "report/model/unguarded.h: does not compile alone"),
    ({"libmpiprof/format/throws.h": "#pragma once\ninline void f() { throw 1; }\n"},
     "libmpiprof/format/throws.h: does not compile alone"),
]


def tree(root, contents):
    for path, text in contents.items():
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        with open(os.path.join(root, path), "w", encoding="utf-8") as out: out.write(text)


def problems(check, planted):
    with tempfile.TemporaryDirectory() as root:
        tree(root, {**CLEAN, **planted})
        return check(root)[0]


def main():
    failures = 0
    headers = lambda root: rooms.check_headers(root, sys.argv[1])
    for check, plants in ((rooms.check_includes, PLANTED), (headers, PLANTED_HEADERS)):
        clean = problems(check, {})
        if clean: failures += 1; print("a clean tree was found wanting:", *clean, sep="\n  ")
        for planted, expected in plants:
            said = problems(check, planted)
            if any(expected in line for line in said): continue
            failures += 1
            print("not found: %s\n  said instead: %s" % (expected, said))
    if failures: return 1
    print("%d planted violations found" % (len(PLANTED) + len(PLANTED_HEADERS)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
