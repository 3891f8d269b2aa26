"""The last rank takes 60 % longer in each step: slow_rank.py STEPS"""

import sys
import time

from mpi4py import MPI

world = MPI.COMM_WORLD
for step in range(int(sys.argv[1])):
    time.sleep(0.016 if world.rank == world.size - 1 else 0.010)
    world.allreduce(world.rank)
