/* What the tests need of CUDA's driver interface, in our own words, and what the double (fake_cuda.c) has beside it.
 * Included by the doubles and by the programs that are run against them; never by the product. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct fake_context* CUcontext;
typedef struct fake_stream* CUstream;
typedef struct fake_event* CUevent;
typedef struct fake_graph* CUgraph;
typedef const struct fake_function* CUfunction;
struct fake_function {
    const char* name;
    uint64_t ns;
};
enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
    CUDA_ERROR_CAPTURE_INVALIDATED = 901,
    CUDA_ERROR_UNKNOWN = 999
};
enum { capture_global = 0, capture_thread_local = 1, capture_relaxed = 2 };

#define CUDA_FUNCTIONS(F)                                                                                           \
    F(cuInit, (unsigned))                                                                                           \
    F(cuDriverGetVersion, (int*))                                                                                   \
    F(cuDevicePrimaryCtxRetain, (CUcontext*, int))                                                                  \
    F(cuCtxGetCurrent, (CUcontext*))                                                                                \
    F(cuCtxSetCurrent, (CUcontext))                                                                                 \
    F(cuCtxPushCurrent_v2, (CUcontext))                                                                             \
    F(cuCtxPopCurrent_v2, (CUcontext*))                                                                             \
    F(cuCtxGetId, (CUcontext, unsigned long long*))                                                                 \
    F(cuCtxGetDevice, (int*))                                                                                       \
    F(cuStreamCreate, (CUstream*, unsigned))                                                                        \
    F(cuStreamDestroy_v2, (CUstream))                                                                               \
    F(cuStreamGetCtx, (CUstream, CUcontext*))                                                                       \
    F(cuStreamIsCapturing, (CUstream, int*))                                                                        \
    F(cuStreamGetCaptureInfo_v2, (CUstream, int*, uint64_t*, CUgraph*, void**, size_t*))                            \
    F(cuStreamSynchronize, (CUstream))                                                                              \
    F(cuStreamBeginCapture_v2, (CUstream, int))                                                                     \
    F(cuStreamEndCapture, (CUstream, CUgraph*))                                                                     \
    F(cuThreadExchangeStreamCaptureMode, (int*))                                                                    \
    F(cuGraphLaunch, (CUgraph, CUstream))                                                                           \
    F(cuEventCreate, (CUevent*, unsigned))                                                                          \
    F(cuEventRecord, (CUevent, CUstream))                                                                           \
    F(cuEventQuery, (CUevent))                                                                                      \
    F(cuEventElapsedTime, (float*, CUevent, CUevent))                                                               \
    F(cuEventDestroy_v2, (CUevent))                                                                                 \
    F(cuPointerGetAttributes, (unsigned, const int*, void**, uint64_t))                                             \
    F(cuLaunchKernel,                                                                                               \
      (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**, void**)) \
    F(cuMemcpyHtoDAsync_v2, (uint64_t, const void*, size_t, CUstream))                                              \
    F(cuMemcpyDtoHAsync_v2, (void*, uint64_t, size_t, CUstream))

/* Of the double alone. A launch as NCCL makes it (cuLaunchKernelEx). */
int fake_cuda_launch(const char* name, uint64_t ns, CUstream stream);
uint64_t fake_cuda_now(void);
void fake_cuda_host(uint64_t ns); /* the host is busy for so long */
/* This memory is a device's (2) or managed (8), or the host's again (0). */
void fake_cuda_claim(const void* begin, size_t bytes, int kind);
unsigned long fake_cuda_pointer_queries(void);
void fake_cuda_fail(int queries); /* so many questions for an event fail, and then none */
void fake_cuda_reset(int device); /* its context is another one, with the same handle */
CUgraph fake_cuda_copy(CUgraph graph);
int fake_cuda_append(CUgraph graph, CUgraph child);
void fake_cuda_capture_to(CUstream stream, CUgraph graph); /* which has nodes already */
/* The stream takes part in what is captured of another one, as if it waited for an event of it; NULL: no longer. */
void fake_cuda_join(CUstream stream, CUstream to);
void fake_cuda_break(void); /* from now on everything fails, as after an illegal address */

/* Who is told of everything that is done: the double of CUPTI. `api` returns the number by which what it launches is
 * known; graph_node is 0 outside graphs. */
struct fake_watcher {
    uint32_t (*api)(int cbid);
    void (*kernel)(const char* name, uint64_t start, uint64_t end, uint32_t device, uint32_t correlation,
                   uint64_t graph_node);
    void (*copy)(int kind, uint64_t bytes, uint64_t start, uint64_t end, uint32_t device, uint32_t correlation);
};
void fake_cuda_watch(const struct fake_watcher* watcher);
