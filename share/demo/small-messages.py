"""An exchange of halos, cell by cell: thousands of messages of 8 bytes where one would do."""
import time

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
partner = world.rank ^ 1
halo = numpy.zeros(2000)
theirs = numpy.zeros(2000)


def exchange():
    for cell in range(len(halo)):
        world.Sendrecv(halo[cell:cell + 1], partner, 0, theirs[cell:cell + 1], partner, 0)


def main():
    for _ in range(100):
        time.sleep(0.005)
        exchange()


main()
