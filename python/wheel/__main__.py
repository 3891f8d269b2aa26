"""python3 -m mpiprof run -- mpirun -n 2 python3 train.py; python3 -m mpiprof JOB calls."""

import sys

from . import main
from ._installed import mpiprof

if len(sys.argv) > 1 and sys.argv[1] in ("run", "doctor", "report"): mpiprof()
sys.exit(main(sys.argv[1:]))
