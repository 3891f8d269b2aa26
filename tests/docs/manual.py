#!/usr/bin/env python3
"""Holds the manual page and the completion of shells to what --help says: each command and option of it is in all of
them; and bash completes by the one that is made for it. Run by ctest.

manual.py REPORT LAUNCHER MPIPROF.1 MPIPROF.7 SETTINGS.md    (the last two: each setting is in the page)
"""

import re
import subprocess
import sys
import tempfile


def said(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, **more).stdout


def completed(script, *words):
    """What bash offers for the last of these words, in an empty directory."""
    text = '%s\nCOMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _mpiprof_report; printf "%%s\\n" "${COMPREPLY[@]}"' % script
    with tempfile.TemporaryDirectory() as here:
        return said("bash", "-c", text, "bash", *words, cwd=here).split()


def plain(path):
    with open(path, encoding="utf-8") as page: return page.read().replace("\\-", "-")


def wrong_of_launcher(launcher, page_1, page_7, settings):
    """What mpiprof(1) lacks of the launcher's --help, and mpiprof(7) of the settings."""
    page = plain(page_1)
    for command in re.findall(r"^  ([a-z]+) +\S", said(launcher, "--help").split("Subcommands:")[1], re.M):
        if not re.search(r"^\.B mpiprof %s$" % command, page, re.M): yield "mpiprof(1) lacks mpiprof " + command
    options = re.findall(r"^  (?:-\w,)?(--[a-z-]+)", said(launcher, "run", "--help"), re.M)
    for option in set(options) - {"--help"}:
        if option not in page: yield "mpiprof(1) lacks " + option
    with open(settings, encoding="utf-8") as text: names = re.findall(r"^\| \[(MPIPROF_\w+)\]", text.read(), re.M)
    for name in names:
        if not re.search(r"^\.TP\n\.B %s\n\S" % name, plain(page_7), re.M): yield "mpiprof(7) lacks " + name
    if len(options) < 4 or len(names) < 20: yield "only %d options and %d settings were found" % (len(options), len(names))


def main(report, *of_launcher):
    wrong = list(wrong_of_launcher(*of_launcher))
    helps = {"": said(report, "--help")}
    commands = re.findall(r"^  ([a-z]+) +\S", helps[""].split("Subcommands:")[1], re.M)
    for command in commands: helps[command] = said(report, command, "--help")
    if len(commands) < 25: wrong.append("only %d commands were found in --help" % len(commands))

    page = said(report, "--manual").replace("\\&", "").replace("\\-", "-")
    bash, fish, zsh = (said(report, "--completion", shell) for shell in ("bash", "fish", "zsh"))
    for command in commands:
        if not re.search(r"^\.SS %s$" % command, page, re.M): wrong.append("the page lacks the command " + command)
        if not re.search(r" -a %s -d " % command, fish): wrong.append("fish does not complete " + command)
    for command, text in helps.items():
        for option in sorted(set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", text, re.M))):
            if option not in page: wrong.append("the page lacks %s of %s" % (option, command))
            if " -l %s" % option[2:] not in fish: wrong.append("fish does not complete %s of %s" % (option, command))
            if option not in completed(bash, "mpiprof-report", *([command] if command else []), "--"):
                wrong.append("bash does not complete %s of %s" % (option, command))
    odd = [line for line in page.splitlines() if line.startswith(".") and not re.match(r"\.(TH|SH|SS|TP|B|BR|PP|nf|fi)\b", line)]
    if odd: wrong.append("no request of man's: %s" % odd)
    if not zsh.startswith("#compdef mpiprof-report\n") or bash not in zsh: wrong.append("zsh does not take over bash's")

    for words, expected in ((("c",), {"calls", "comms", "check"}), (("plot", "s"), {"scaling", "sizes"}),
                            (("calls", "--format", "c"), {"csv"}), (("export", "-f", "l"), {"line"}),
                            (("--job", "1", "calls", "--so"), {"--sort"}), (("summary", "--sort"), set())):
        found = set(completed(bash, "mpiprof-report", *words))
        if found != expected: wrong.append("bash: %s -> %s, not %s" % (" ".join(words), sorted(found), sorted(expected)))
    print("\n".join(wrong) or "%d commands are in the page and in three completions" % len(commands))
    return 1 if wrong else 0


if __name__ == "__main__": sys.exit(main(*sys.argv[1:]))
