#!/usr/bin/env python3
"""Plants a badly formatted file into a small tree and sees format.py find it; and a clean tree pass."""

import contextlib
import io
import os
import shutil
import sys
import tempfile

import format

CLEAN = "int answer() { return 42; }\n"
BAD = "int   answer( ) {return 42;}\n"


def judge(configuration, text):
    with tempfile.TemporaryDirectory() as root:
        shutil.copy(configuration, root)
        os.makedirs(os.path.join(root, "report/model"))
        with open(os.path.join(root, "report/model/answer.cpp"), "w", encoding="utf-8") as out: out.write(text)
        said = io.StringIO()
        with contextlib.redirect_stdout(said): code = format.main(root)
        return code, said.getvalue()


def main(configuration):
    clean, said = judge(configuration, CLEAN)
    if clean == format.SKIPPED:
        print(said)
        return clean
    bad, said = judge(configuration, BAD)
    print(said)
    return 0 if clean == 0 and bad == 1 and "report/model/answer.cpp:1: not as .clang-format has it" in said else 1


if __name__ == "__main__": sys.exit(main(*sys.argv[1:]))
