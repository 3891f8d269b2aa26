#!/bin/sh
# Trains on the GPUs of this machine under the profiler and prints the verdict: train.sh [GPUS, default 1] [STEPS]
# The whole report: mpiprof-report, and mpiprof-report nccl.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mpiprof=${MPIPROF_PREFIX:-$here/../../build/install}
LD_PRELOAD=$mpiprof/lib/libmpiprof.so${LD_PRELOAD:+:$LD_PRELOAD} MPIPROF_CUPTI=on \
    torchrun --standalone --nproc-per-node="${1:-1}" "$here/../ddp/train.py" "${2:-200}" 64
"$mpiprof/bin/mpiprof-report" --brief
