#!/usr/bin/env python3
"""Holds that no two types have one qualified name: the linker takes either's functions for both. Run by ctest; needs
Universal Ctags.

one_type.py ROOT             names each type that is defined in two places
one_type.py ROOT --planted   two such types are found, and types of one file, of one function or of two namespaces pass
"""

import collections
import json
import os
import subprocess
import sys
import tempfile

from format import sources
from sizes import run


def types_in(ctags, root, paths):
    """{qualified name: places} of types that other files can see."""
    tags = subprocess.run([ctags, "--output-format=json", "--fields=+nZ", "--kinds-c++=csguet", "--language-force=C++", "-f", "-", "-L", "-"],
                         cwd=root, input="\n".join(paths), stdout=subprocess.PIPE, text=True, check=True)
    places = collections.defaultdict(list)
    for tag in map(json.loads, tags.stdout.splitlines()):
        scope = tag.get("scope", "")
        is_local = tag.get("scopeKind", "namespace") not in ("namespace", "class", "struct") or "__anon" in scope + tag["name"]
        if tag["kind"] in ("class", "struct", "union", "enum") and not is_local:
            places[scope + "::" + tag["name"]].append("%s:%d" % (tag["path"], tag["line"]))
    return places


def doubled(root, ctags):
    paths = [path for path in sources(root) if path.startswith(("libmpiprof/", "report/", "tools/"))]
    types = types_in(ctags, root, paths)
    print("%d types in %d files" % (len(types), len(paths)))
    # A template and its specialisation are side by side in one file.
    return ["%s is two types: %s" % (name, " and ".join(places)) for name, places in sorted(types.items())
            if len({place.rsplit(":", 1)[0] for place in places}) > 1]


def planted(ctags):
    files = {"a.h": "namespace m::r {\nstruct Part {};\nstruct Range {};\nnamespace {\nstruct Line {};\n}\n}\n",
             "b.h": "namespace m::r {\nenum class Part { one };\nnamespace s {\nstruct Range {};\n}\nnamespace {\nstruct Line {};\n}\n"
                    "inline int f() {\n    struct Range {};\n    return 0;\n}\n}\n"}
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "report"))
        for name, text in files.items():
            with open(os.path.join(root, "report", name), "w", encoding="utf-8") as out: out.write(text)
        said = doubled(root, ctags)
    print("\n".join(said))
    return 0 if said == ["m::r::Part is two types: report/a.h:2 and report/b.h:2"] else 1


if __name__ == "__main__": sys.exit(run(doubled, planted, *sys.argv[1:]))
