#!/usr/bin/env python3
"""Data-parallel training with PyTorch's DistributedDataParallel, on made-up data: train.py [STEPS] [BATCH].

Runs under torchrun, srun or mpirun, with NCCL where there are GPUs and with Gloo where there are none. Its iterations are
marked, so that `mpiprof-report regions` has their percentiles; without the profiler the marks do nothing.
"""

import ctypes
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

INPUTS, HIDDEN, CLASSES = 1024, 4096, 10


def model():
    return torch.nn.Sequential(torch.nn.Linear(INPUTS, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.ReLU(),
                               torch.nn.Linear(HIDDEN, CLASSES))


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    batch = int(sys.argv[2]) if len(sys.argv) > 2 else 64
    has_gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if has_gpu else "gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    device = torch.device("cpu")
    if has_gpu:
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
        torch.cuda.set_device(device)
    mark = getattr(ctypes.CDLL(None), "mpiprof_iteration", lambda items: None)

    torch.manual_seed(1)  # the same parameters everywhere, other data on each rank
    net = DistributedDataParallel(model().to(device), device_ids=[device.index] if has_gpu else None)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    torch.manual_seed(100 + rank)
    inputs = torch.randn(batch, INPUTS, device=device)
    labels = torch.randint(CLASSES, (batch,), device=device)
    first = last = 0.0
    began = time.perf_counter()
    for step in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(net(inputs), labels)
        loss.backward()
        optimizer.step()
        last = loss.item()
        if step == 0:
            first = last
        mark(batch)
    seconds = time.perf_counter() - began
    if rank == 0:
        print(f"train: {size} ranks, {steps} steps, loss {first:.3f} -> {last:.3f}, {batch * steps / seconds:.0f} examples/s and rank", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
