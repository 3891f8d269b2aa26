#!/usr/bin/env python3
"""Holds the contract between wrap/ and a library (libmpiprof/wrap/library.h): a library that lacks a hook, or misspells
one, does not compile, and the compiler says which.

contract.py --root ROOT --cxx CXX

The pretend library of contract/relay.h compiles as it stands. Each hook is then taken from it, by a wrong name where it
defines the hook itself and by leaving it out where it takes the default; all of these are looked at in one compilation.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDES = "".join('#include "libmpiprof/%s"\n' % name for name in ("host/launch.h", "wrap/start.h", "wrap/wrap.h"))


def hooks_of(contract):
    """The names that the concepts ask of a library L."""
    return sorted(set(re.findall(r"\bL::(?:template )?(\w+)", contract)) - {"Id"})


def without(hook, library):
    """The library with that hook misspelt, or not taken from the defaults."""
    if "LibraryDefaults::%s" % hook in library:
        library = re.sub(r"LibraryDefaults::%s\b,? ?" % hook, "", library)
        return re.sub(r"using +;\n", "", re.sub(r", *;", ";", library))
    return re.sub(r"(?<!::)\b%s\b" % hook, hook + "_", library)


def text_of(path):
    with open(path, encoding="utf-8") as source: return source.read()


def compile_text(cxx, root, text):
    with tempfile.TemporaryDirectory() as here:
        path = os.path.join(here, "contract.cpp")
        with open(path, "w", encoding="utf-8") as source: source.write(text)
        return subprocess.run([cxx, "-std=c++20", "-fsyntax-only", "-I", root, path], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True)
    parser.add_argument("--cxx", required=True)
    options = parser.parse_args()
    hooks = hooks_of(text_of(os.path.join(options.root, "libmpiprof/wrap/library.h")))
    relay = text_of(os.path.join(HERE, "contract/relay.h"))
    body = relay[relay.index("inline constexpr std::uint16_t first_id"):relay.index("}  // namespace mpiprof::relay")]
    if len(hooks) < 20: sys.exit("only %d hooks were found in library.h: %s" % (len(hooks), hooks))

    # Each as a library of its own, which the contract has to refuse; and one that it has to take.
    parts = [INCLUDES, "namespace mpiprof { namespace whole { namespace relay {", body, "}\n"
             "static_assert(wrap::WrappedLibrary<relay::Relay, wrap::C<true>>, \"the whole library\"); }"]
    struct = body[body.index("struct Relay"):body.index("template <Id I, class Language>\nstruct Relay::Size")]
    for hook in hooks:
        planted = without(hook, struct)
        if planted == struct: sys.exit("the pretend library has no hook %s" % hook)
        parts.append("namespace without_%s { namespace relay { using whole::relay::Id; using whole::relay::table; "
                     "using whole::relay::first_id;\n%s}\nstatic_assert(!wrap::WrappedLibrary<relay::Relay, wrap::C<true>>, "
                     "\"a library without %s is taken\"); }" % (hook, planted, hook))
    result = compile_text(options.cxx, options.root, "\n".join(parts) + "\n}\n")
    if result.returncode: sys.exit(result.stdout)

    # What the compiler says to whoever misspells one.
    symbols = text_of(os.path.join(HERE, "contract/symbols.cpp"))
    wrapped = symbols.replace('#include "tests/compile/contract/relay.h"\n', "%s")
    good = compile_text(options.cxx, options.root, wrapped.replace("%s", relay))
    if good.returncode: sys.exit(good.stdout)
    for hook in ("begin_late", "watches"):
        planted = compile_text(options.cxx, options.root, wrapped.replace("%s", relay.replace(struct, without(hook, struct))))
        if planted.returncode == 0: sys.exit("a library without %s compiles" % hook)
        if "constraints not satisfied" not in planted.stdout or "L::%s" % hook not in planted.stdout:
            sys.exit("the compiler does not say that %s is missing:\n%s" % (hook, planted.stdout))
    print("%d hooks: a library without any one of them is refused" % len(hooks))


if __name__ == "__main__":
    main()
