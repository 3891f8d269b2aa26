#!/usr/bin/env python3
"""The examples below --help of each command are commands of this program, which run: with a recorded job for every directory
that they name. Run by ctest.

  examples.py REPORT JOB
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

NEEDS_SOMETHING_ELSE = {"doctor ./app"}  # a program


def main(report, job):
    report, job = os.path.abspath(report), os.path.abspath(job)
    wrong, ran = [], 0
    text = subprocess.run([report, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    with tempfile.TemporaryDirectory() as here:
        shutil.copy(job, os.path.join(here, "mpi_profile.mpiprof"))
        for name in ("DIR", "before", "after", "run-2", "run-4", "run-8", "a1", "a2", "a3", "b1", "b2", "b3"):
            os.mkdir(os.path.join(here, name))
            shutil.copy(job, os.path.join(here, name, "mpi_profile.mpiprof"))
        number = re.search(r"job (\S+)", subprocess.run([report, job], stdout=subprocess.PIPE, text=True).stdout).group(1)
        for command in re.findall(r"^  ([a-z]+) +\S", text.split("Subcommands:")[1], re.M):
            said = subprocess.run([report, command, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
            examples = re.findall(r"^  mpiprof-report (.*)", said.split("Examples:")[1], re.M)
            if len(examples) != 2: wrong.append("%s has %d examples" % (command, len(examples)))
            for example in examples:
                if example in NEEDS_SOMETHING_ELSE: continue
                words = example.replace("4711", number).split(" | ")[0].split()
                done = subprocess.run([report, *words], cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
                if done.returncode not in (0, 1, 4, 5) or "no such" in done.stderr:
                    wrong.append("mpiprof-report %s: exit code %d, %s" % (example, done.returncode, done.stderr.strip()))
                ran += 1
    if ran < 40: wrong.append("only %d examples were run" % ran)
    print("\n".join(wrong) or "%d examples run" % ran)
    return bool(wrong)


if __name__ == "__main__": sys.exit(main(*sys.argv[1:]))
