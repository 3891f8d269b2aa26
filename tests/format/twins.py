#!/usr/bin/env python3
"""Sees that a test which asserts that a text is absent would notice if it were there. Run by ctest.

twins.py ROOT             each text that a test of the reporter asserts to be absent has a twin: another test asserts that it
                          is there, or a golden has it. Else a rewording makes the assertion true for ever
twins.py ROOT --planted   an assertion without a twin is found, and one with a twin passes

Texts that must be nowhere are in NOWHERE.
"""

import os
import re
import sys
import tempfile

FOLDER = "tests/report"
NOWHERE = {r"\n", r"\x1b", "nan", "inf", "inf ", "<b>"}

LITERAL = r'("(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)+\')'
STATEMENT = re.compile(r"(?:EXPECT|ASSERT)_\w+\((?:[^;\"']|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)+')*;", re.S)
ASKED = re.compile(r"(?:\.find\(|(?:says|contains)\([^;]*?,)\s*" + LITERAL + r"\s*\)")


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as file: return file.read()


def plain(literal):
    return literal[1:-1].replace('\\"', '"')


def absent_in(text):
    """(line, text) of each literal that is asserted to be absent."""
    for found in STATEMENT.finditer(text):
        statement = found.group()
        is_absence = ("EQ(" in statement and re.search(r"(?<!!)\bstd::string::npos", statement)) or statement.startswith("EXPECT_FALSE(")
        if not is_absence: continue
        for literal in ASKED.finditer(statement): yield text.count("\n", 0, found.start()) + 1, plain(literal[1])


def problems(root):
    folder = os.path.join(root, FOLDER)
    tests = {name: text_of(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".cpp")}
    goldens = "".join(text_of(os.path.join(path, name)) for path, _, names in os.walk(os.path.join(folder, "golden")) for name in names)
    said, seen = [], 0
    for name, text in tests.items():
        for line, absent in absent_in(text):
            seen += 1
            if absent in NOWHERE or absent.replace("\\n", "\n") in goldens: continue
            # Elsewhere in a test: what it expects to be there, or what it gives the reporter to say.
            if sum(other.count(absent) for other in tests.values()) > sum(
                    1 for other in tests.values() for _, one in absent_in(other) if absent in one): continue
            said.append('%s/%s:%d: no test sees "%s" where it belongs: assert that, too' % (FOLDER, name, line, absent))
    if not seen: said.append("%s asserts nothing to be absent" % folder)
    return said, "%d texts that are asserted to be absent have a twin" % seen


def planted():
    test = 'TEST(a, b) {\n    EXPECT_EQ(text.find("%s"), std::string::npos) << text;\n}\n'
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, FOLDER, "golden"))
        with open(os.path.join(root, FOLDER, "golden", "a.txt"), "w", encoding="utf-8") as out: out.write("a heading\n")
        with open(os.path.join(root, FOLDER, "a_test.cpp"), "w", encoding="utf-8") as out:
            out.write(test % "a heading" + test % "reworded" + test % "asserted" + test.replace("EQ", "NE") % "asserted")
        said, _ = problems(root)
    wanted = ['tests/report/a_test.cpp:5: no test sees "reworded" where it belongs: assert that, too']
    print("\n".join(said))
    return 0 if said == wanted else 1


def main(root, *rest):
    if rest == ("--planted",): return planted()
    said, summary = problems(root)
    print("\n".join(said) if said else summary)
    return 1 if said else 0


if __name__ == "__main__": sys.exit(main(*sys.argv[1:]))
