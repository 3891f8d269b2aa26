#!/usr/bin/env python3
"""Data-parallel training as Horovod does it, with nothing but MPI; data_parallel.c in Python, number for number.

Every rank computes gradients on its own data, a background thread agrees with the other ranks which tensors are
ready everywhere (an 8-byte Allreduce per cycle) and averages them (Allreduces of 40 bytes to 4.5 MiB). While
training runs only the background thread calls MPI. That is Horovod's way too.

    mpirun -n 4 python3 data_parallel.py [steps]          needs mpi4py and numpy
"""

import sys
import threading
import time

import numpy as np
from mpi4py import MPI

# Two convolutions and two dense layers, each with its bias; and the metrics of an epoch.
ELEMENTS = (288, 32, 18432, 64, 1179648, 128, 1280, 10, 4)
METRIC = len(ELEMENTS) - 1
TENSORS = range(METRIC)
LARGE = 4  # goes alone, the small ones together
CYCLE = 0.001
STEPS_PER_EPOCH = 10
RATE = np.float32(0.03125)

ALL_NAMES = (1 << len(ELEMENTS)) - 1
STOP = 1 << len(ELEMENTS)       # this rank has finished
KNOWN = 1 << len(ELEMENTS) + 1  # this rank has met all its ready tensors before

world = MPI.COMM_WORLD
rank, size = world.rank, world.size


def members(mask):
    return [t for t in range(len(ELEMENTS)) if mask >> t & 1]


class Averager(threading.Thread):
    """Averages the tensors that are submitted, in the background."""

    def __init__(self, comm, gradients):
        super().__init__()
        self.comm, self.gradients = comm, gradients
        self.changed = threading.Condition()
        self.ready, self.finished = 0, False
        self.fused = np.empty(sum(ELEMENTS), np.float32)

    def submit(self, tensor):
        with self.changed:
            self.ready |= 1 << tensor

    def wait(self):
        with self.changed:
            self.changed.wait_for(lambda: not self.ready)

    def finish(self):
        with self.changed:
            self.finished = True
        self.join()

    def run(self):
        known, agreed = 0, np.zeros(1, np.uint64)
        while not int(agreed[0]) & STOP:
            with self.changed:
                mine = self.ready
                vote = mine | (STOP if self.finished else 0) | (0 if mine & ~known else KNOWN)
            self.comm.Allreduce(np.array([vote], np.uint64), agreed, MPI.BAND)
            all_ready = int(agreed[0]) & ALL_NAMES
            if not int(agreed[0]) & KNOWN:
                self.introduce(mine & ~known)
                known |= mine
            for which in (all_ready & ~(1 << LARGE), all_ready & 1 << LARGE):
                if which:
                    self.average(members(which))
            known &= ~(all_ready & 1 << METRIC)  # the next epoch's metrics have another name
            with self.changed:
                self.ready &= ~all_ready
                self.changed.notify()
            time.sleep(CYCLE)

    def introduce(self, unknown):
        """A tensor that is met for the first time is described to rank 0, which answers what all will do."""
        request = "".join(f"tensor {t};" for t in members(unknown)).encode()
        lengths = np.zeros(size, np.intc)
        self.comm.Gather(np.array([len(request)], np.intc), lengths)
        requests = bytearray(int(lengths.sum()))
        self.comm.Gatherv([request, MPI.CHAR], [requests, lengths, MPI.CHAR] if rank == 0 else None)
        response = bytearray(f"average {len(requests)}".encode())
        answer = np.array([len(response)], np.intc)
        self.comm.Bcast(answer)
        response = response.ljust(int(answer[0]))[:int(answer[0])]
        self.comm.Bcast([response, MPI.CHAR])

    def average(self, tensors):
        fused = self.fused[:sum(ELEMENTS[t] for t in tensors)]
        np.concatenate([self.gradients[t] for t in tensors], out=fused)
        self.comm.Allreduce(MPI.IN_PLACE, fused)
        start = 0
        for t in tensors:
            self.gradients[t][:] = fused[start:start + ELEMENTS[t]] / size
            start += ELEMENTS[t]


def target(t):
    """The optimum of this rank's data; the optimum of all data is the mean over the ranks."""
    return ((np.arange(ELEMENTS[t]) * 7 + t * 3 + rank * 5) % 11).astype(np.float32)


def average_loss(averager, parameters, targets, step):
    """Mean squared distance from the optima of all ranks' data."""
    squares = sum(float(((values - optimum).astype(np.float64) ** 2).sum()) for values, optimum in zip(parameters, targets))
    metrics = averager.gradients[METRIC]
    metrics[:] = squares / sum(ELEMENTS[t] for t in TENSORS), step, 64, 0
    averager.submit(METRIC)
    averager.wait()
    return metrics[0]


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    gradients = [np.zeros(n, np.float32) for n in ELEMENTS]
    parameters, first, second = ([np.zeros(ELEMENTS[t], np.float32) for t in TENSORS] for _ in range(3))
    targets = [target(t) for t in TENSORS]
    for state in zip(parameters, first, second):
        for values in state:
            world.Bcast(values)

    background = world.Dup()
    averager = Averager(background, gradients)
    averager.start()
    before = loss = average_loss(averager, parameters, targets, 0)
    for step in range(1, steps + 1):
        for t in reversed(TENSORS):  # backpropagation: the last layer's gradient is ready first
            gradients[t][:] = parameters[t] - targets[t]
            averager.submit(t)
        averager.wait()
        for values, gradient in zip(parameters, gradients):
            values -= RATE * gradient
        if step % STEPS_PER_EPOCH == 0:
            loss = average_loss(averager, parameters, targets, step)
    averager.finish()

    if rank == 0:
        print(f"data_parallel: {size} ranks, {steps} steps, loss {before:.3f} -> {loss:.3f}")
    background.Free()


if __name__ == "__main__":
    main()
