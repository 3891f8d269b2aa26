#!/usr/bin/env python3
"""The reporter at a terminal of a given size: what is longer goes through the pager, what fits does not; columns that are hidden
are named; COLUMNS and the terminal behind a pipe are respected; a mistyped option is answered with the right one. Run by ctest.

  terminal.py REPORT JOB
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

REPORT, JOB = sys.argv[1:]
PLAIN = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "PAGER", "LESS", "NO_COLOR", "CLICOLOR_FORCE")}
PLAIN.update(TERM="xterm", LC_ALL="C.UTF-8")
wrong = []


def expect(is_right, what):
    if not is_right: wrong.append(what)


def at_terminal(*words, rows=10, columns=80, is_piped=False, **environment):
    """What the reporter wrote, and its exit code; with is_piped only its stderr is the terminal."""
    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    run = subprocess.Popen([REPORT, *words, JOB], env={**PLAIN, **environment}, stdin=there,
                           stdout=subprocess.PIPE if is_piped else there, stderr=there)
    os.close(there)
    said = run.stdout.read() if is_piped else b""
    while not is_piped:
        try: part = os.read(here, 65536)
        except OSError: break
        if not part: break
        said += part
    code = run.wait(60)
    os.close(here)
    return said.decode(), code


def plain(text): return re.sub(r"\x1b\[[0-9;]*m|\r", "", text)


def widths(text): return max(map(len, plain(text).splitlines()))


def pager():
    with tempfile.TemporaryDirectory() as home:
        paged = os.path.join(home, "paged")
        shown, code = at_terminal("placement", "--color=never", PAGER="cat > " + paged)
        expect(code == 0 and os.path.exists(paged), "a long screen does not go through $PAGER")
        direct, code = at_terminal("placement", "--color=never", "--no-pager", PAGER="cat > " + paged + "2")
        expect(not os.path.exists(paged + "2"), "--no-pager does not keep $PAGER away")
        if os.path.exists(paged):
            with open(paged) as text: expect(text.read() == plain(direct), "the pager has another text than the screen")
        expect(direct.count("\n") >= 10, "the screen that should be paged has only %d lines" % direct.count("\n"))
        at_terminal("placement", rows=500, PAGER="cat > " + paged + "3")
        expect(not os.path.exists(paged + "3"), "what fits is paged")
        at_terminal("placement", is_piped=True, PAGER="cat > " + paged + "4")
        expect(not os.path.exists(paged + "4"), "what goes into a pipe is paged")
        at_terminal("placement", "--format", "csv", rows=2, PAGER="cat > " + paged + "5")
        expect(not os.path.exists(paged + "5"), "csv is paged")
        shown, code = at_terminal("placement", "--color=never", PAGER="there-is-no-such-pager")
        expect((shown, code) == (direct, 0), "without its pager the screen says: " + shown)
        shown, code = at_terminal("placement", PAGER="head -n 1")
        expect(code == 0 and plain(shown).count("\n") == 1, "a pager that ends early is an error: " + shown)


def columns():
    narrow, _ = at_terminal("calls", "--no-pager", columns=60)
    expect(widths(narrow) <= 60, "a screen of 60 columns has lines of %d" % widths(narrow))
    hidden = re.search(r"hidden: (.*?); --width (\d+)", " ".join(plain(narrow).split()))
    if hidden:
        wide, _ = at_terminal("calls", "--no-pager", "--width", hidden.group(2))
        for title in hidden.group(1).split(", "):
            expect(title in plain(wide).split("\n")[0], "%s is not in the wide screen" % title)
        expect("hidden:" not in wide and widths(wide) <= int(hidden.group(2)), "--width %s hides some, too" % hidden.group(2))
    else:
        expect(False, "no hidden column is named: " + narrow)
    piped, _ = at_terminal("calls", columns=60, is_piped=True)
    expect(piped == plain(narrow), "through a pipe it is not as wide as the terminal: " + piped)
    asked, _ = at_terminal("calls", columns=60, is_piped=True, COLUMNS="100")
    expect(60 < widths(asked) <= 100, "COLUMNS=100 gives lines of %d" % widths(asked))
    for nonsense in ("", "0", "12", "many"):
        expect(at_terminal("calls", columns=60, is_piped=True, COLUMNS=nonsense)[0] == piped, "COLUMNS=%s counts" % nonsense)


def words():
    for typed, meant in ((["calls", "--srot", "TIME"], "--sort"), (["--detials"], "--details"), (["ranks", "--bye=node"], "--by"),
                         (["--luanch", "1"], "--launch")):
        said, code = at_terminal(*typed)
        expect(code == 2 and "did you mean %s?" % meant in said, "%s is answered with: %s" % (" ".join(typed), said))
    said, code = at_terminal("--zzzzzzzzz")
    expect(code == 2 and "did you mean" not in said, "--zzzzzzzzz is answered with: " + said)


for part in (pager, columns, words): part()
print("\n".join(wrong) or "screens fit")
sys.exit(bool(wrong))
