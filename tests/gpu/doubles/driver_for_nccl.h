/* What driver_for_nccl.c has for the doubles beside it and for the program of the test: see there. */
#pragma once

#include "tests/gpu/doubles/cuda.h"

struct launch_config {
    unsigned grid[3], block[3], shared;
    CUstream stream;
    void* attributes;
    unsigned n_attributes;
};
int cuLaunchKernelEx(const struct launch_config*, CUfunction, void** parameters, void** extra);
int cuEventSynchronize(CUevent);
int cuGraphDestroy(CUgraph);
int cuDeviceGetAttribute(int* value, int attribute, int device);

int fake_cuda_record(CUevent, CUstream);
int fake_cuda_wait(CUstream, CUevent);
CUgraph fake_cuda_capture(CUstream); /* NULL: the stream is not captured */
void fake_cuda_keep(CUgraph, void (*destroy)(void*), void* of);
