#!/usr/bin/env python3
"""Two ranks on one GPU that hang, for tests/gpu/run: stuck.py SCENE, under RANK, WORLD_SIZE and MASTER_ADDR. Each rank prints "here"
when it has enqueued what it will; what follows never ends."""

import sys
import time

import scenes


def skipped_collective(torch, dist, rank, data):
    """Rank 1 leaves out the last of 21 reductions."""
    for _ in range(20 if rank else 21): dist.all_reduce(data)
    if rank: return
    yield


def order(torch, dist, rank, data):
    """One rank reduces and then gathers, the other gathers and then reduces."""
    gathered = torch.empty(2 * data.numel(), device="cuda")
    calls = [lambda: dist.all_reduce(data), lambda: dist.all_gather_into_tensor(gathered, data)]
    for call in calls if rank == 0 else calls[::-1]: call()
    yield


def peers(torch, dist, rank, data):
    """Rank 1 expects one message more than rank 0 sends."""
    for _ in range(3): dist.send(data, 1) if rank == 0 else dist.recv(data, 0)
    if rank: dist.recv(data, 0)
    yield


def exited(torch, dist, rank, data):
    """Rank 1 is gone before the last reduction."""
    for _ in range(5): dist.all_reduce(data)
    torch.cuda.synchronize()
    if rank: return
    dist.all_reduce(data)
    yield


def replays(torch, dist, rank, data):
    """A graph with a reduction, replayed once less by rank 1, which then sleeps."""
    dist.all_reduce(data)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph): dist.all_reduce(data)
    for _ in range(9 if rank else 10): graph.replay()
    if rank: return
    yield


def main():
    scene = sys.argv[1]
    scenes.prepare_two_on_one()
    import torch
    import torch.distributed as dist
    torch.cuda.set_device(0)
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    data = torch.ones(scenes.ELEMENTS, device="cuda")
    dist.all_reduce(data)
    torch.cuda.synchronize()
    waits = False
    for _ in globals()[scene](torch, dist, rank, data): waits = True
    print("here", flush=True)
    if scene == "exited" and rank == 1:
        import os
        os._exit(0)
    if waits: torch.cuda.synchronize()
    time.sleep(3600)


if __name__ == "__main__":
    main()
