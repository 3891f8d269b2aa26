#!/usr/bin/env python3
"""How fast does data move between two ranks? The same as transfers.c, with mpi4py.

usage: transfers.py [MB [REPEATS]], on two ranks of one machine, which have one clock
"""

import sys
import time

from mpi4py import MPI

world = MPI.COMM_WORLD
megabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 100
repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 4
data = bytearray(b"\1") * int(1e6 * megabytes)
for _ in range(repeats):
    world.Barrier()
    there = time.monotonic_ns()
    if world.rank == 0:
        world.Send(data, dest=1, tag=0)
        world.send(there, dest=1, tag=1)
    elif world.rank == 1:
        world.Recv(data, source=0, tag=0)
        done = time.monotonic_ns()
        ns = done - max(there, world.recv(source=0, tag=1))
        print(f"Process 1 transferred {megabytes:g} MB in {ns / 1e6:.1f} ms ({len(data) / ns * 1e3:.1f} MB/sec)")
