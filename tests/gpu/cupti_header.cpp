// Our declarations of CUPTI's interface against its own header, where there is one. Compiled by a case of tests/e2e,
// never run.
#include <cupti.h>

#include "libmpiprof/gpu/cupti_interface.h"

namespace ours = mpiprof::gpu::cupti;

#define SAME_PLACE(Ours, ours_field, Theirs, theirs_field)                             \
    static_assert(offsetof(ours::Ours, ours_field) == offsetof(Theirs, theirs_field)); \
    static_assert(sizeof(ours::Ours::ours_field) == sizeof(Theirs::theirs_field))

#define KERNEL(Theirs)                                      \
    SAME_PLACE(Kernel, start, Theirs, start);               \
    SAME_PLACE(Kernel, end, Theirs, end);                   \
    SAME_PLACE(Kernel, device, Theirs, deviceId);           \
    SAME_PLACE(Kernel, context, Theirs, contextId);         \
    SAME_PLACE(Kernel, stream, Theirs, streamId);           \
    SAME_PLACE(Kernel, correlation, Theirs, correlationId); \
    SAME_PLACE(Kernel, name, Theirs, name);                 \
    SAME_PLACE(Kernel, graph_node, Theirs, graphNodeId)
KERNEL(CUpti_ActivityKernel5);
KERNEL(CUpti_ActivityKernel6);
KERNEL(CUpti_ActivityKernel7);
KERNEL(CUpti_ActivityKernel8);
KERNEL(CUpti_ActivityKernel9);
KERNEL(CUpti_ActivityKernel10);

#define COPY(Theirs)                            \
    SAME_PLACE(Memcpy, copy, Theirs, copyKind); \
    SAME_PLACE(Memcpy, bytes, Theirs, bytes);   \
    SAME_PLACE(Memcpy, start, Theirs, start);   \
    SAME_PLACE(Memcpy, end, Theirs, end);       \
    SAME_PLACE(Memcpy, device, Theirs, deviceId)
COPY(CUpti_ActivityMemcpy4);
COPY(CUpti_ActivityMemcpy5);
COPY(CUpti_ActivityMemcpy6);
COPY(CUpti_ActivityMemcpyPtoP3);
COPY(CUpti_ActivityMemcpyPtoP4);

SAME_PLACE(Api, function, CUpti_ActivityAPI, cbid);
SAME_PLACE(ExternalCorrelation, external_kind, CUpti_ActivityExternalCorrelation, externalKind);
SAME_PLACE(ExternalCorrelation, id, CUpti_ActivityExternalCorrelation, externalId);
SAME_PLACE(ExternalCorrelation, correlation, CUpti_ActivityExternalCorrelation, correlationId);

#define SAME_NUMBER(one, other) static_assert(static_cast<int>(one) == static_cast<int>(other))
SAME_NUMBER(ours::memcpy, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME_NUMBER(ours::memcpy_between_devices, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME_NUMBER(ours::concurrent_kernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME_NUMBER(ours::driver, CUPTI_ACTIVITY_KIND_DRIVER);
SAME_NUMBER(ours::external_correlation, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
static_assert(ours::external_ids == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2);
SAME_NUMBER(ours::Copy::host_to_device, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
SAME_NUMBER(ours::Copy::device_to_host, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
SAME_NUMBER(ours::Copy::device_to_device, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
SAME_NUMBER(ours::Copy::peer_to_peer, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
static_assert(ours::success == CUPTI_SUCCESS && ours::not_initialized == CUPTI_ERROR_NOT_INITIALIZED &&
              ours::unknown == CUPTI_ERROR_UNKNOWN);
static_assert(ours::too_many_subscribers == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(ours::launches(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) &&
              ours::launches(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz));
static_assert(ours::launches(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx) &&
              ours::launches(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz));
static_assert(ours::launches_graph(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch) &&
              ours::launches_graph(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz));
static_assert(ours::driver_functions <= CUPTI_DRIVER_TRACE_CBID_SIZE);

// The functions' types: pointers to their structs are words to us.
static_assert(sizeof(CUptiResult) == sizeof(int));
inline void compiles() {
    CUptiResult (*version)(uint32_t*) = cuptiGetVersion;
    CUptiResult (*register_callbacks)(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc) =
        cuptiActivityRegisterCallbacks;
    CUptiResult (*enable_driver_api)(CUpti_CallbackId, uint8_t) = cuptiActivityEnableDriverApi;
    CUptiResult (*register_clock)(CUpti_TimestampCallbackFunc) = cuptiActivityRegisterTimestampCallback;
    CUptiResult (*push)(CUpti_ExternalCorrelationKind, uint64_t) = cuptiActivityPushExternalCorrelationId;
    CUptiResult (*pop)(CUpti_ExternalCorrelationKind, uint64_t*) = cuptiActivityPopExternalCorrelationId;
    CUptiResult (*next)(uint8_t*, size_t, CUpti_Activity**) = cuptiActivityGetNextRecord;
    CUptiResult (*dropped)(CUcontext, uint32_t, size_t*) = cuptiActivityGetNumDroppedRecords;
    CUptiResult (*flush)(uint32_t) = cuptiActivityFlushAll;
    (void)version, (void)register_callbacks, (void)enable_driver_api, (void)register_clock, (void)push, (void)pop,
        (void)next, (void)dropped, (void)flush;
}
