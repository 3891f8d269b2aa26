#!/usr/bin/env python3
"""What tests/gpu/run runs on a real GPU, under the profiler: scenes.py SCENE [STEPS]. Needs PyTorch with CUDA. Each scene makes a
known number of NCCL calls of known sizes, and prints one line of JSON: what it made, and how long a step took."""

import json
import os
import statistics
import sys
import time

ELEMENTS = 1 << 20  # float32: 4 MiB


def prepare_two_on_one():
    """Two ranks on one GPU: NCCL refuses equal hosts with equal GPUs. For tests only; nothing of it is fast."""
    os.environ.update({"NCCL_HOSTID": f"rank{os.environ['RANK']}", "NCCL_SOCKET_IFNAME": "lo", "NCCL_IB_DISABLE": "1", "NCCL_MNNVL_ENABLE": "0",
                       "NCCL_NVLS_ENABLE": "0", "NCCL_MAX_CTAS": "2", "NCCL_NET_GDR_LEVEL": "LOC", "NCCL_MULTI_RANK_GPU_ENABLE": "1"})


def steps_timed(torch, steps, step):
    """Median seconds of a step, each waited for."""
    times = []
    for _ in range(steps):
        began = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def reduce(torch, dist, steps):
    data = torch.ones(ELEMENTS, device="cuda")
    median = steps_timed(torch, steps, lambda: dist.all_reduce(data))
    return {"ncclAllReduce": [steps, steps * 4 * ELEMENTS]}, median


def several(torch, dist, steps):
    """Gather, reduce-scatter and broadcast beside the reductions; many short kernels around them."""
    size = dist.get_world_size()
    mine, all_of_it = torch.ones(ELEMENTS, device="cuda"), torch.ones(ELEMENTS * size, device="cuda")

    def step():
        for _ in range(200): mine.mul_(1.0)
        dist.all_gather_into_tensor(all_of_it, mine)
        dist.reduce_scatter_tensor(mine, all_of_it)
        dist.broadcast(mine, 0)
    median = steps_timed(torch, steps, step)
    made = {"ncclAllGather": [steps, steps * 4 * ELEMENTS * size], "ncclBcast": [steps, steps * 4 * ELEMENTS]}
    # PyTorch copies where there is one rank alone.
    return made | ({"ncclReduceScatter": [steps, steps * 4 * ELEMENTS * size]} if size > 1 else {}), median


def bytes8(torch, dist, steps):
    """uint8, which NCCL has no name for when it tells of its operations."""
    data = torch.ones(ELEMENTS, dtype=torch.uint8, device="cuda")
    median = steps_timed(torch, steps, lambda: dist.all_reduce(data))
    return {"ncclAllReduce": [steps, steps * ELEMENTS]}, median


def few(torch, dist, steps):
    """For a recording: a step has one of each, and a kernel of the program's; at last a copy."""
    size, elements = dist.get_world_size(), 1 << 18
    mine, all_of_it = torch.ones(elements, device="cuda"), torch.ones(elements * size, device="cuda")
    bytes8 = torch.ones(elements, dtype=torch.uint8, device="cuda")

    def step():
        mine.mul_(1.0)
        dist.all_reduce(mine)
        dist.all_reduce(bytes8)
        dist.all_gather_into_tensor(all_of_it, mine)
        dist.reduce_scatter_tensor(mine, all_of_it)
        dist.broadcast(mine, 0)
    median = steps_timed(torch, steps, step)
    mine.cpu()
    return {"ncclAllReduce": [2 * steps, 5 * steps * elements], "ncclAllGather": [steps, steps * 4 * elements * size],
            "ncclReduceScatter": [steps, steps * 4 * elements * size], "ncclBcast": [steps, steps * 4 * elements]}, median


def buffers(torch, dist, steps):
    """As DDP sends the buffers of a model before each step: a small broadcast from rank 0, then the gradients."""
    few, data = torch.ones(256, device="cuda"), torch.ones(ELEMENTS, device="cuda")

    def step():
        dist.broadcast(few, 0)
        dist.all_reduce(data)
    median = steps_timed(torch, steps, step)
    return {"ncclAllReduce": [steps, steps * 4 * ELEMENTS], "ncclBcast": [steps, steps * 4 * 256]}, median


def graph(torch, dist, steps):
    data = torch.ones(ELEMENTS, device="cuda")
    dist.all_reduce(data)
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        dist.all_reduce(data)
    median = steps_timed(torch, steps, captured.replay)
    return {"ncclAllReduce": [2, 2 * 4 * ELEMENTS], "replays": steps}, median


def kineto(torch, dist, steps):
    """PyTorch's own profiler for the second third of the steps."""
    data = torch.ones(ELEMENTS, device="cuda")
    third = max(1, steps // 3)
    for _ in range(third): dist.all_reduce(data)
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(third): dist.all_reduce(data)
        torch.cuda.synchronize()
    time.sleep(2.5)  # we take CUPTI back 2 s after others let go of it
    began = time.perf_counter()
    median = steps_timed(torch, third, lambda: dist.all_reduce(data))
    took = time.perf_counter() - began
    seen = sum(event.count for event in profile.key_averages() if "nccl" in event.key.lower())
    return {"ncclAllReduce": [3 * third, 3 * third * 4 * ELEMENTS], "kernels_seen_by_kineto": seen, "last_third_s": took}, median


def main():
    scene, steps = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 50
    if scene.startswith("two_"): prepare_two_on_one()
    import torch
    import torch.distributed as dist
    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
    dist.init_process_group("nccl")
    made, median = globals()[scene.removeprefix("two_")](torch, dist, steps)
    if dist.get_rank() == 0:
        print(json.dumps({"made": made, "median_step_s": median, "nccl": ".".join(map(str, torch.cuda.nccl.version()))}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
