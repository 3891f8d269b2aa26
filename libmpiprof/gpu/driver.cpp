// One name per function, in one string: pointers to names would be relocations in every process.
#include "libmpiprof/gpu/driver.h"

#include "libmpiprof/process/loader.h"
#include "libmpiprof/record/text.h"

namespace mpiprof::gpu {
namespace {

// In the order of Driver's members.
constexpr char names[] =
    "cuDriverGetVersion\0cuCtxGetCurrent\0cuCtxPushCurrent_v2\0cuCtxPopCurrent_v2\0cuCtxGetDevice\0cuStreamGetCtx\0"
    "cuStreamIsCapturing\0cuThreadExchangeStreamCaptureMode\0cuEventCreate\0cuEventRecord\0cuEventQuery\0cuEventElapsedTime\0";

}  // namespace

bool Driver::find() {
    if (!loader().dlopen) return false;
    void* library = loader().dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);  // kept: what we hold of it stays valid
    if (!library) return false;
    void** function = reinterpret_cast<void**>(this);
    const bool lacks_one = any_of(names, [&](const char* name) { return !(*function++ = loader().dlsym(library, name)); });
    Word context;
    return !lacks_one && current_context(&context) != cuda_not_initialized;
}

static_assert(sizeof(Driver) == 12 * sizeof(void*));

}  // namespace mpiprof::gpu
