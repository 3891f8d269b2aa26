"""HDF5: all ranks write parts of one file together, and read their neighbours' parts."""
import h5py
import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
with h5py.File("shared.h5", "w", driver="mpio", comm=world) as file:
    data = file.create_dataset("data", (ranks * 100, 50), dtype="f8")
    small = [file.create_dataset("group%d/small" % number, (ranks,), dtype="i4") for number in range(20)]
    for step in range(20):
        with data.collective:
            data[rank * 100:(rank + 1) * 100] = numpy.arange(5000).reshape(100, 50) + step * (rank + 1)
    for number, dataset in enumerate(small):
        dataset[rank] = rank * number
with h5py.File("shared.h5", "r", driver="mpio", comm=world) as file:
    other = (rank + 1) % ranks
    total = file["data"][other * 100:(other + 1) * 100].sum() + sum(file["group%d/small" % number][other] for number in range(20))
total = world.allreduce(float(total))
if rank == 0:
    print("total", total)
