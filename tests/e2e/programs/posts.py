# Two ranks wait for messages with a tag that nobody sends; each has posted its receive in another line than it waits in.
#   posts.py SECONDS      they end themselves after so long
import signal
import sys

import mpi4py

mpi4py.rc.threads = False  # of programs with several threads nothing is proven
from mpi4py import MPI  # noqa: E402

signal.alarm(int(sys.argv[1]))
comm = MPI.COMM_WORLD
other = 1 - comm.Get_rank()
buffer = bytearray(8)
for _ in range(3):  # that a script makes such calls is learned at the first one
    request = comm.Irecv(buffer, source=other, tag=1)
    comm.Send(buffer, dest=other, tag=1)
    request.Wait()
request = comm.Irecv(buffer, source=other, tag=4)  # the line that posts
request.Wait()  # the line of the wait
