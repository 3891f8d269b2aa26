"""How processes of a case end: waited for, asked to go, and killed if they outlive it. Used by harness.py; starts none."""

import os
import pathlib
import select
import signal
import subprocess


def wait_for(process, timeout):
    """Its exit code, as soon as it has one: Popen.wait() with a time limit looks every 50 ms, which bench/programs would measure."""
    with open(os.pidfd_open(process.pid), "rb", buffering=0) as end:
        if not select.select([end], [], [], timeout)[0]: raise subprocess.TimeoutExpired(process.args, timeout)
    return process.wait()


def end_session(process):
    """mpirun ends its ranks when asked; what ignores that is killed."""
    for number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(patience)
            return
        except subprocess.TimeoutExpired:
            pass


def end_who_is_left(directory, how=signal.SIGKILL):
    """Ends ranks that outlive their case: what waits in MPI need not notice that its mpirun was killed, and it keeps a core.
    The shell of somebody who looks at the directory has a terminal, and stays."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            where = pathlib.Path(os.readlink(process / "cwd"))
            terminal = (process / "stat").read_text(errors="replace").rpartition(")")[2].split()[4]
            if directory in (where, *where.parents) and terminal == "0":
                os.kill(int(process.name), how)
        except OSError:
            pass
