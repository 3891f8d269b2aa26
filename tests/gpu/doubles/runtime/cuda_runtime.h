/* What a real nccl.h needs of CUDA's headers, and what tests/gpu/real_nccl.c calls of the double of libcudart. */
#pragma once

#include "tests/gpu/doubles/driver_for_nccl.h"

typedef CUstream cudaStream_t;

int cudaSetDevice(int);
int cudaMalloc(void**, size_t);
int cudaStreamCreateWithFlags(CUstream*, unsigned);
int cudaStreamSynchronize(CUstream);
