# A hook of PBS for the event execjob_launch: it preloads mpiprof into what a job starts. Import it as root:
#   qmgr -c "create hook mpiprof event=execjob_launch"
#   qmgr -c "import hook mpiprof application/x-python default pbs_launch.py"
# It never rejects a job: whatever goes wrong here, the job starts as it would without mpiprof.
import os

import pbs

LIBRARY = "/opt/mpiprof/lib/libmpiprof.so"  # of the .deb or .rpm: /usr/lib/libmpiprof.so


def preload(environment):
    """LD_PRELOAD as the job gets it; None: it stays as it is."""
    others = environment.get("LD_PRELOAD") or ""
    if environment.get("MPIPROF_DISABLE") == "1" or not os.access(LIBRARY, os.R_OK): return None
    if os.path.exists(os.path.join(environment.get("HOME") or "/", ".mpiprof-off")): return None
    if any(path.endswith("/libmpiprof.so") for path in others.split(":")): return None
    return LIBRARY + (":" + others if others else "")


try:
    launched = pbs.event()
    wanted = preload(launched.env)
    if wanted: launched.env["LD_PRELOAD"] = wanted
except Exception as problem:
    pbs.logmsg(pbs.LOG_DEBUG, "mpiprof: not preloaded: %s" % problem)
pbs.event().accept()
