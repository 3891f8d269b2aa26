// One name per function, in one string: pointers to names would be relocations in every process.
#include "libmpiprof/gpu/driver.h"

namespace mpiprof::gpu {
namespace {

// The names stand in the order of Driver's members.
constexpr char names_of_cuda[] =
    "cuDriverGetVersion\0cuCtxGetCurrent\0cuStreamGetCtx\0cuCtxGetDevice\0cuCtxPushCurrent_v2\0cuCtxPopCurrent_v2\0"
    "cuStreamIsCapturing\0cuThreadExchangeStreamCaptureMode\0cuEventCreate\0cuEventDestroy_v2\0cuEventRecord\0cuEventQuery\0cuEventElapsedTime\0?cuCtxGetId\0?\0?\0";
// hipStreamGetDevice came with HIP 5.6. Contexts of HIP are deprecated, and events belong to devices.
constexpr char names_of_hip[] =
    "hipRuntimeGetVersion\0hipGetDevice\0hipStreamGetDevice\0hipGetDevice\0hipSetDevice\0?\0"
    "hipStreamIsCapturing\0hipThreadExchangeStreamCaptureMode\0hipEventCreateWithFlags\0hipEventDestroy\0hipEventRecord\0hipEventQuery\0hipEventElapsedTime\0?\0"
    "hipPeekAtLastError\0hipGetLastError\0";

// hipEventDisableSystemFence: without it HIP flushes caches to the whole system at each event.
constexpr unsigned hip_without_fence = 0x20000000;

// HIP's names for two default streams, of which some versions take the number for an address.
constexpr Word hip_legacy_stream = 1, hip_stream_of_thread = 2;

}  // namespace

bool Driver::find() {
    const InUse in_use = look_for_gpu();
    platform = in_use.platform;
    if (platform == Platform::none) return false;
    return find_functions(in_use.library, is_hip() ? names_of_hip : names_of_cuda, this);
}

Word Driver::context_of(Word stream) const {
    Word context = 0;
    if (is_hip() && (stream == hip_legacy_stream || stream == hip_stream_of_thread)) return 0;
    if (of_stream(stream, &context) != success && current(&context) != success) return 0;
    return is_hip() ? context + 1 : context;
}

unsigned long long Driver::id_of(Word context) const {
    unsigned long long id = 0;
    return context_id && context_id(context, &id) == success ? id : 0;
}

int Driver::make_event(Word* event) const {
    if (is_hip() && create_event(event, hip_without_fence) == success) return success;
    return create_event(event, 0);
}

// HIP looks at the stream behind an event: if that is captured meanwhile the capture is lost, and if it was destroyed
// its memory is another's.
Driver::Stream Driver::look_at(Word stream) const {
    int status = 0;
    if (!is_hip() || stream == 0) return Stream::fine;
    if (is_capturing(stream, &status) != success) return Stream::gone;
    return status == 0 ? Stream::fine : Stream::captured;
}

static_assert(sizeof(Driver) == 17 * sizeof(void*) && offsetof(Driver, platform) == 16 * sizeof(void*));

}  // namespace mpiprof::gpu
