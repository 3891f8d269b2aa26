"""A solver that hangs in its 20th step: rank 0 waits for the others to report, and they do not know of it."""
import time

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
mine, total = numpy.ones(1), numpy.ones(1)


def step():
    time.sleep(0.01)
    world.Allreduce(mine, total)


def report():
    world.Barrier()


def main():
    for number in range(100):
        step()
        if number == 20 and world.rank == 0:
            report()


main()
