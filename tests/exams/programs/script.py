"""Programs in Python: a step that is long now and then on one rank, a root that looks at what it has gathered, a healthy one.
   script.py NAME STEPS"""

import sys
import time

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
mine, total = numpy.zeros(100), numpy.zeros(100)


def sometimes_long(steps):
    for step in range(steps):
        time.sleep(0.030 if rank == 1 and step % 5 == 4 else 0.006)
        world.Allreduce(mine, total)


def looking_root(steps):
    rows = numpy.zeros((size, 100)) if rank == 0 else None
    for _ in range(steps):
        time.sleep(0.005)
        world.Gather(mine, rows, root=0)
        if rank == 0: time.sleep(0.005)
        world.Barrier()


def even_script(steps):
    for step in range(steps):
        time.sleep(0.008)
        if step % 10 == 0: world.Allreduce(mine, total)


if __name__ == "__main__":
    {"sometimes_long": sometimes_long, "looking_root": looking_root, "even_script": even_script}[sys.argv[1]](int(sys.argv[2]))
