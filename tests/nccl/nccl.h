/* What programs need of NCCL's interface, in our own words: handles, numbers and the calls of the tests. Included by
 * the double (fake_nccl.c) and by the programs that are run against it; never by the product. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct fake_comm* ncclComm_t;
typedef void* cudaStream_t;
typedef struct {
    char internal[128];
} ncclUniqueId;
typedef struct {
    size_t size;
    unsigned magic, version;
    int blocking, cga_cluster_size, min_ctas, max_ctas;
    const char* net_name;
    int split_share, traffic_class;
    const char* comm_name;
} ncclConfig_t;
typedef struct { /* of a call, since 2.31 */
    size_t size;
    unsigned magic, version;
    void* extension;
    int min_ctas, max_ctas, nvls_ctas, cga_cluster_size;
    char* algorithms;
    int must_be_those, policy;
    uint64_t userProfilerTag;
} ncclCollConfig_t;
enum { ncclSuccess = 0, ncclInternalError = 3, ncclInvalidArgument = 4, ncclInProgress = 7 };
enum {
    ncclInt8 = 0,
    ncclUint8 = 1,
    ncclInt32 = 2,
    ncclFloat16 = 6,
    ncclFloat32 = 7,
    ncclFloat64 = 8,
    ncclBfloat16 = 9,
    ncclFloat8e4m3 = 10
};
enum { ncclSum = 0 };

#define NCCL_FUNCTIONS(F)                                                                  \
    F(ncclGetVersion, (int*))                                                              \
    F(ncclGetUniqueId, (ncclUniqueId*))                                                    \
    F(ncclCommInitRank, (ncclComm_t*, int, ncclUniqueId, int))                             \
    F(ncclCommInitRankConfig, (ncclComm_t*, int, ncclUniqueId, int, ncclConfig_t*))        \
    F(ncclCommInitAll, (ncclComm_t*, int, const int*))                                     \
    F(ncclCommSplit, (ncclComm_t, int, int, ncclComm_t*, ncclConfig_t*))                   \
    F(ncclCommDestroy, (ncclComm_t))                                                       \
    F(ncclCommFinalize, (ncclComm_t))                                                      \
    F(ncclCommAbort, (ncclComm_t))                                                         \
    F(ncclCommCount, (ncclComm_t, int*))                                                   \
    F(ncclCommUserRank, (ncclComm_t, int*))                                                \
    F(ncclCommGetAsyncError, (ncclComm_t, int*))                                           \
    F(ncclAllReduce, (const void*, void*, size_t, int, int, ncclComm_t, cudaStream_t))     \
    F(ncclBroadcast, (const void*, void*, size_t, int, int, ncclComm_t, cudaStream_t))     \
    F(ncclBcast, (void*, size_t, int, int, ncclComm_t, cudaStream_t))                      \
    F(ncclReduce, (const void*, void*, size_t, int, int, int, ncclComm_t, cudaStream_t))   \
    F(ncclAllGather, (const void*, void*, size_t, int, ncclComm_t, cudaStream_t))          \
    F(ncclReduceScatter, (const void*, void*, size_t, int, int, ncclComm_t, cudaStream_t)) \
    F(ncclAlltoAll, (const void*, void*, size_t, int, ncclComm_t, cudaStream_t))           \
    F(ncclGather, (const void*, void*, size_t, int, int, ncclComm_t, cudaStream_t))        \
    F(ncclScatter, (const void*, void*, size_t, int, int, ncclComm_t, cudaStream_t))       \
    F(ncclSend, (const void*, size_t, int, int, ncclComm_t, cudaStream_t))                 \
    F(ncclRecv, (void*, size_t, int, int, ncclComm_t, cudaStream_t))                       \
    F(ncclGroupStart, (void))                                                              \
    F(ncclGroupEnd, (void))                                                                \
    F(ncclMemAlloc, (void**, size_t))                                                      \
    F(ncclMemFree, (void*))                                                                \
    NCCL_NEWER_FUNCTIONS(F)

#ifdef NEWER /* than 2.22: what else makes communicators, and what is one-sided */
#define NCCL_NEWER_FUNCTIONS(F)                                                                                       \
    F(ncclCommInitRankScalable, (ncclComm_t*, int, int, int, ncclUniqueId*, ncclConfig_t*))                           \
    F(ncclCommShrink, (ncclComm_t, int*, int, ncclComm_t*, ncclConfig_t*, int))                                       \
    F(ncclCommGrow, (ncclComm_t, int, const ncclUniqueId*, int, ncclComm_t*, ncclConfig_t*))                          \
    F(ncclPutSignal, (const void*, size_t, int, int, void*, size_t, int, int, unsigned, ncclComm_t, cudaStream_t))    \
    F(ncclSignal, (int, int, int, unsigned, ncclComm_t, cudaStream_t))                                                \
    F(ncclWaitSignal, (int, void*, ncclComm_t, cudaStream_t))                                                         \
    NCCL_OF_RCCL(F, ncclAlltoAllv)                                                                                    \
    NCCL_OF_RCCL(F, ncclAllToAllv)                                                                                    \
    F(ncclAllReduceConfig, (const void*, void*, size_t, int, int, ncclComm_t, cudaStream_t, const ncclCollConfig_t*)) \
    F(ncclAllReduceWithBias, (const void*, void*, size_t, int, int, ncclComm_t, cudaStream_t, const void*))
#define NCCL_OF_RCCL(F, name) \
    F(name,                   \
      (const void*, const size_t*, const size_t*, void*, const size_t*, const size_t*, int, ncclComm_t, cudaStream_t))
#else
#define NCCL_NEWER_FUNCTIONS(F)
#endif
