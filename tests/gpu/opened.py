#!/usr/bin/env python3
"""NCCL that is opened by dlopen, two ranks on one GPU, for tests/gpu/run: opened.py jax|cupy STEPS, under RANK, WORLD_SIZE and
MASTER_ADDR. Each rank prints one line of JSON: how many reductions it made, of how many bytes."""

import json
import os
import sys

import scenes


def jax(rank, steps):
    import jax as library
    import jax.numpy as np
    library.distributed.initialize("127.0.0.1:29677", 2, rank, local_device_ids=[0])
    reduce = library.pmap(lambda x: library.lax.psum(x, "all"), axis_name="all")
    data = np.ones((1, 1 << 20), np.float32)
    for _ in range(steps): reduce(data).block_until_ready()
    return steps, steps * 4 << 20


def cupy(rank, steps):
    import cupy as library
    from cupyx.distributed import init_process_group
    group = init_process_group(2, rank, host="127.0.0.1", port=29678)
    data, out = library.ones(1 << 20, dtype="f4"), library.zeros(1 << 20, dtype="f4")
    for _ in range(steps): group.all_reduce(data, out)
    library.cuda.Stream.null.synchronize()
    return steps, steps * 4 << 20


def main():
    scenes.prepare_two_on_one()
    os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"] = ".2"
    calls, size = globals()[sys.argv[1]](int(os.environ["RANK"]), int(sys.argv[2]))
    print(json.dumps({"ncclAllReduce": [calls, size]}), flush=True)


if __name__ == "__main__":
    main()
