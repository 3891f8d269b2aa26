#!/usr/bin/env python3
"""Trainings as people write them, two ranks on one GPU, for tests/gpu/run: training.py fsdp|ddp_gpt2|pipeline STEPS.

What was called comes from PyTorch's flight recorder, which counts by itself: each rank prints one line of JSON, {"rank": ..,
"made": {NCCL function: [calls, bytes]}}. Needs PyTorch with CUDA; ddp_gpt2 needs transformers."""

import collections
import json
import os
import pickle
import sys

import scenes

FUNCTIONS = {"all_reduce": "ncclAllReduce", "all_reduce_barrier": "ncclAllReduce", "_all_gather_base": "ncclAllGather", "all_gather_into_tensor": "ncclAllGather",
             "all_gather": "ncclAllGather", "_reduce_scatter_base": "ncclReduceScatter", "reduce_scatter_tensor": "ncclReduceScatter",
             "broadcast": "ncclBcast", "send": "ncclSend", "recv": "ncclRecv"}


def fsdp(torch, dist, steps):
    """Parameters gathered before each layer and again for its gradient, gradients reduced and scattered."""
    from torch.distributed.fsdp import fully_shard
    layers = torch.nn.Sequential(*(torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True) for _ in range(4))).cuda()
    for layer in layers: fully_shard(layer)
    fully_shard(layers)
    optimizer = torch.optim.AdamW(layers.parameters())
    for _ in range(steps):
        layers(torch.randn(8, 64, 256, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def ddp_gpt2(torch, dist, steps):
    """GPT-2 of 4 layers in DistributedDataParallel, the norm of the gradients reduced as well."""
    from transformers import GPT2Config, GPT2LMHeadModel
    model = GPT2LMHeadModel(GPT2Config(n_layer=4, n_embd=256, n_head=4, vocab_size=8192)).cuda()
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[0])
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(steps):
        tokens = torch.randint(0, 8192, (4, 128), device="cuda")
        model(input_ids=tokens, labels=tokens).loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        dist.all_reduce(norm)
        optimizer.step()
        optimizer.zero_grad()


def pipeline(torch, dist, steps):
    """Two stages that hand activations forward and gradients back, four micro-batches a step, as batched isend and irecv."""
    rank, other = dist.get_rank(), 1 - dist.get_rank()
    stage = torch.nn.Linear(512, 512).cuda()
    for _ in range(steps):
        for _ in range(4):
            mine, theirs = torch.randn(64, 512, device="cuda"), torch.empty(64, 512, device="cuda")
            ways = [dist.P2POp(dist.isend, stage(mine).detach(), other), dist.P2POp(dist.irecv, theirs, other)]
            for work in dist.batch_isend_irecv(ways if rank == 0 else ways[::-1]): work.wait()
            stage(theirs).sum().backward()
        for parameter in stage.parameters(): dist.all_reduce(parameter.grad)
    dist.barrier()


def made(torch):
    """{NCCL function: [calls, bytes]} by the flight recorder; a barrier is an all-reduce of one element."""
    from torch._C._distributed_c10d import _dump_nccl_trace
    found = collections.defaultdict(lambda: [0, 0])
    for entry in pickle.loads(_dump_nccl_trace())["entries"]:
        kind = entry["profiling_name"].split(":")[-1].split(" ")[0]
        name = FUNCTIONS.get(kind)
        if name is None and kind == "coalesced": continue
        sizes, types = entry["output_sizes" if name == "ncclAllGather" else "input_sizes"], entry["output_dtypes" if name == "ncclAllGather" else "input_dtypes"]
        if name == "ncclRecv": sizes, types = entry["output_sizes"], entry["output_dtypes"]
        size = 0
        for shape, dtype in zip(sizes, types):
            elements = 1
            for extent in shape: elements *= extent
            size += elements * {"Float": 4, "BFloat16": 2, "Half": 2, "Long": 8, "Int": 4, "Byte": 1, "Double": 8}[dtype]
        found[name or kind][0] += 1
        found[name or kind][1] += size
    return dict(found)


def main():
    scenes.prepare_two_on_one()
    os.environ["TORCH_NCCL_TRACE_BUFFER_SIZE"] = "100000"
    os.environ["TORCH_FR_BUFFER_SIZE"] = "100000"
    import torch
    import torch.distributed as dist
    torch.cuda.set_device(0)
    dist.init_process_group("nccl")
    globals()[sys.argv[1]](torch, dist, int(sys.argv[2]))
    torch.cuda.synchronize()
    sys.stdout.write(json.dumps({"rank": dist.get_rank(), "made": made(torch)}) + "\n")
    sys.stdout.flush()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
