# Calls from known lines: mpi4py, or, where an interpreter has none, the C functions of a preloaded MPICH by ctypes.
import ctypes
import sys

if sys.argv[1] == "mpi4py":
    from mpi4py import MPI

    buffer = bytearray(8), bytearray(8)

    def low():
        MPI.COMM_WORLD.Allreduce(buffer[0], buffer[1], MPI.BOR)  # line 11
else:
    m = ctypes.CDLL(None)
    m.MPI_Init(None, None)
    one, two = ctypes.c_int(1), ctypes.c_int(0)

    def low():
        m.MPI_Allreduce(ctypes.byref(one), ctypes.byref(two), 1, 0x4C000405, 0x58000003, 0x44000000)  # line 18


def train(steps):
    for _ in range(steps):
        low()  # line 23


class Größe:
    def summe(self):
        low()  # line 28


train(5)  # line 31
train(2)  # line 32
Größe().summe()  # line 33
if sys.argv[1] != "mpi4py":
    m.MPI_Finalize()
