#!/usr/bin/env python3
"""docs/troubleshooting.md has every message that the library, the launcher and the reporter print, and the exit codes have their table.

messages.py ROOT    file:line and the text of each that is missing, and ends with 1 if there is one

Of a message the longest piece between what varies ({}, %s) has to be there; case, line breaks and backticks do not matter. Of a
Problem {where, what, advice} that is what is wrong: its advice is read with it.
"""

import pathlib
import re
import sys

STRINGS = r'(?:"(?:[^"\\\n]|\\.)*"\s*)+'  # those that the compiler puts together
# What prints, or keeps what will be printed. Of the first kind all literals are messages, of the second those of the second argument.
SAYS = r"\b(?:say|usage|damaged|r\.note|(?:remarks|remarks_?\.lines|problems|said|(?:text_|profile)\.notes)\.(?:push|emplace)_back)\((?!\))|\bprint\(stderr,"
PROBLEMS = r"\bproblem\(|\b(?:fail|complain)\(\s*\{|\{(?=Weight::)"
WHOLE = ("report/model/job_note.cpp", "report/commands/parse.cpp")  # each literal is a message, or a part of one
NOT_SAID = ("report/sections/peers.cpp",)  # its say() writes a note below a table
VARIES = re.compile(r"\{[^{}]*\}|%[-.*\d]*[a-z]+|\\n|\\\"")
LEAST = 10  # letters; what is shorter is found anywhere


def arguments(text, begin):
    """What stands in the brackets that begin here, cut at its commas."""
    depth, start, at, found = 0, begin + 1, begin, []
    while at < len(text):
        quoted = re.compile(r'"(?:[^"\\]|\\.)*"|\'\\?.\'').match(text, at)
        if quoted:
            at = quoted.end()
            continue
        depth += (text[at] in "({") - (text[at] in ")}")
        if depth == 0 or (depth == 1 and text[at] == ","):
            found.append(text[start:at])
            start = at + 1
        if depth == 0: break
        at += 1
    return found


def messages(path, is_whole):
    """(line, the longest piece of each message that does not vary)."""
    text = re.sub(r"^[ \t]*(//|#include).*$", "", path.read_text(encoding="utf-8"), flags=re.M)
    texts = [(0, text)] if is_whole else []
    for call in re.finditer(r"%s|(%s)" % (SAYS, PROBLEMS), text):
        words = arguments(text, max(text.rfind("(", 0, call.end()), text.rfind("{", 0, call.end())))
        texts.append((call.start(), " ".join(words[1:2] if call[1] else words)))
    for at, part in texts:
        for strings in re.finditer(STRINGS, part):
            whole = re.sub("^mpiprof: ", "", "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', strings[0])))
            piece = max(VARIES.split(whole), key=len).strip(" ;:,.()")
            line = text.count("\n", 0, strings.start() if is_whole else at) + 1
            if len(piece) >= LEAST: yield line, piece


def main():
    root, seen, missing = pathlib.Path(sys.argv[1]), 0, []
    plain = lambda text: " ".join(text.replace("`", "").lower().split())
    page = plain((root / "docs/troubleshooting.md").read_text(encoding="utf-8"))
    for path in sorted(path for room in ("libmpiprof", "launcher", "report") for path in (root / room).rglob("*.cpp")):
        name = str(path.relative_to(root))
        for line, piece in messages(path, name in WHOLE) if name not in NOT_SAID else []:
            seen += 1
            if plain(piece) not in page: missing.append(f'{name}:{line}: docs/troubleshooting.md does not explain "{piece}"')
    enum = re.search(r"enum ExitCode \{(.*?)\}", (root / "report/commands/say.h").read_text(encoding="utf-8"), re.S)[1]
    codes = re.findall(r"^\s*(\w+) = (\d+),", enum, re.M)
    table = (root / "docs/exports.md").read_text(encoding="utf-8").split("\n## Exit codes\n")[1].split("\n## ")[0]
    missing += [f"docs/exports.md has no row for exit code {code}, {name}" for name, code in codes if f"\n| {code} |" not in table]
    print("\n".join(missing) or f"{seen} messages and {len(codes)} exit codes are explained")
    return 1 if missing or seen < 200 or len(codes) < 6 else 0


if __name__ == "__main__":
    sys.exit(main())
