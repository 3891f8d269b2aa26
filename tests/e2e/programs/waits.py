# Rank 1 waits for a message that rank 0 never sends, until rank 0 kills it with signal 9.
#   waits.py mpi4py|ctypes SECONDS      by mpi4py, or by the C functions of a preloaded MPICH
import ctypes
import os
import signal
import sys
import time

if sys.argv[1] == "mpi4py":
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    rank = comm.Get_rank()

    def send(buffer):
        comm.Send(buffer, dest=0)

    def receive(buffer):
        comm.Recv(buffer, source=1 - rank)  # the line that hangs in mpi4py
else:
    m = ctypes.CDLL(None)
    m.MPI_Init(None, None)
    rank = ctypes.c_int(0)
    m.MPI_Comm_rank(0x44000000, ctypes.byref(rank))
    rank = rank.value

    def address(buffer):
        return (ctypes.c_char * len(buffer)).from_buffer(buffer)

    def send(buffer):
        m.MPI_Send(address(buffer), len(buffer), 0x4C00010D, 0, 0, 0x44000000)

    def receive(buffer):
        m.MPI_Recv(address(buffer), len(buffer), 0x4C00010D, 1 - rank, 0, 0x44000000, ctypes.c_void_p(1))  # the line that hangs in ctypes


def exchange(pid):
    if rank == 1:
        send(pid)
    else:
        receive(pid)


pid = bytearray(os.getpid().to_bytes(8, "little"))
for _ in range(3):
    exchange(pid)
if rank == 1:
    receive(pid)
else:
    time.sleep(float(sys.argv[2]))
    os.kill(int.from_bytes(pid, "little"), signal.SIGKILL)
    time.sleep(60)
