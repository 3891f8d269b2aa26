"""The library and the commands that the wheel brings; `mpiprof` and `mpiprof-report` in PATH begin here."""

import os
import sys


def _path(*parts): return os.path.join(os.path.dirname(os.path.abspath(__file__)), "installed", *parts)


def library_path():
    """What to preload: LD_PRELOAD=$(python3 -c 'import mpiprof; print(mpiprof.library_path())')."""
    return _path("lib", "libmpiprof.so")


def _become(command):
    path = _path("bin", command)
    try:
        os.execv(path, [path, *sys.argv[1:]])
    except OSError as why:
        sys.exit("%s: %s" % (path, why.strerror))


def mpiprof(): _become("mpiprof")


def report(): _become("mpiprof-report")
