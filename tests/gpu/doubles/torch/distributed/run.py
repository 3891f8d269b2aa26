"""torchrun: python -m torch.distributed.run --standalone --nproc-per-node=N SCRIPT ..."""

import os
import subprocess
import sys


def main():
    words, ranks = sys.argv[1:], 1
    while words[0].startswith("--"):
        word = words.pop(0)
        if word.startswith("--nproc-per-node="): ranks = int(word.split("=")[1])
    who = {"WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": "localhost", "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "none"}
    workers = [subprocess.Popen([sys.executable, *words], env={**os.environ, **who, "RANK": str(r), "LOCAL_RANK": str(r)}) for r in range(ranks)]
    return max(worker.wait() for worker in workers)


if __name__ == "__main__":
    sys.exit(main())
