"""What the tests of this folder share: the jobs of the reporter's tests as directories, the reporter, and a Python that
has a package of Debian's. A test that lacks one is skipped."""

import os
import subprocess
import sys
import tempfile

SKIPPED = 77
DEBIANS = "/usr/bin/python3"


def need(package):
    """This module under a Python that has it: this one, else Debian's, for which the package was installed."""
    try:
        return __import__(package)
    except ImportError:
        if os.path.realpath(sys.executable) != os.path.realpath(DEBIANS) and os.path.exists(DEBIANS):
            os.execv(DEBIANS, [DEBIANS, "-B", *sys.argv])
        print("skipped: no Python here has %s (package python3-%s)" % (package, package))
        sys.exit(SKIPPED)


class Jobs:
    """Directories of profiles, by the name of their story."""

    def __init__(self, write_stories):
        self.temporary = tempfile.TemporaryDirectory()
        self.path = self.temporary.name
        subprocess.run([write_stories, self.path], check=True)

    def __iter__(self):
        return iter(sorted(os.listdir(self.path)))

    def directory(self, name):
        return os.path.join(self.path, name)


def reported(report, *words):
    """What mpiprof-report writes to stdout; it has to end well."""
    ran = subprocess.run([report, "-q", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if ran.returncode != 0: sys.exit("mpiprof-report %s ended with %d: %s" % (" ".join(words), ran.returncode, ran.stderr.decode()))
    return ran.stdout.decode()
