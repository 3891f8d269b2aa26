/* A libamdhip64.so.6: the GPUs of fake_cuda.c, which programs and the double of NCCL drive by its names here, too, and
 * HIP's functions over them as far as a profiler may call them. It does to whom asks wrongly what HIP does, or worse:
 *
 *   asked before the program has initialised it, it would initialise itself: ends the process
 *   the last error of a thread is that of its last call, success as well; from HIP 7 on it stays until it is read
 *   asking for an event whose stream is captured meanwhile invalidates that capture; one whose stream is gone ends the
 * process streams that are numbers (1, 2) are taken for addresses: ends the process memory that it does not know is an
 * error before HIP 6, and kinds of memory have other numbers
 *
 * FAKE_HIP_VERSION: 60300000. While it is initialised it keeps the file FAKE_KFD open. */
#define cuInit fake_cuda_init
#include "tests/gpu/doubles/fake_cuda.c"
#undef cuInit

#include <fcntl.h>
#include <string.h>

static _Thread_local int last_error;
static int version(void) { return getenv("FAKE_HIP_VERSION") ? atoi(getenv("FAKE_HIP_VERSION")) : 60300000; }
static int answer(int result) {
    if (version() < 70000000 || result != 0) last_error = result;
    return result;
}
static void die(const char* why) {
    (void)!write(2, "fake HIP: ", 10);
    (void)!write(2, why, strlen(why));
    (void)!write(2, "\n", 1);
    _exit(97);
}
static void check(void) {
    if (!is_initialized) die("would have been initialised");
    if (is_gone) die("called after its own end");
    if (is_child) die("called in a forked child");
}
static void check_stream(CUstream stream) {
    check();
    if ((uintptr_t)stream == 1 || (uintptr_t)stream == 2) die("took a number for an address");
}

int cuInit(unsigned flags) {
    if (!is_initialized && getenv("FAKE_KFD") && *getenv("FAKE_KFD") && open(getenv("FAKE_KFD"), O_RDONLY) < 0) abort();
    return fake_cuda_init(flags);
}
void fake_hip_fail(void) { last_error = 1; }

int hipPeekAtLastError(void) { return check(), last_error; }
int hipGetLastError(void) {
    const int result = hipPeekAtLastError();
    last_error = 0;
    return result;
}
int hipRuntimeGetVersion(int* is) {
    check();
    *is = version();
    return answer(0);
}
int hipGetDevice(int* device) { return check(), answer(cuCtxGetDevice(device)); }
int hipSetDevice(int device) { return check(), answer(cuCtxSetCurrent(&contexts[device])); }
int hipStreamGetDevice(CUstream stream, int* device) {
    check_stream(stream);
    CUcontext context;
    const int result = cuStreamGetCtx(stream, &context);
    if (result == 0) *device = context->device;
    return answer(result);
}
int hipStreamIsCapturing(CUstream stream, int* status) {
    return check_stream(stream), answer(cuStreamIsCapturing(stream, status));
}
int hipThreadExchangeStreamCaptureMode(int* mode) { return check(), answer(cuThreadExchangeStreamCaptureMode(mode)); }
/* Before HIP 6 it knows no events without a fence. Later, one with a fence flushes the caches of the program. */
int hipEventCreateWithFlags(CUevent* event, unsigned flags) {
    check();
    if (version() < 60000000 && flags) return answer(1);
    if (version() >= 60000000 && flags != 0x20000000) die("an event that flushes caches");
    return answer(cuEventCreate(event, flags));
}
int hipEventDestroy(CUevent event) { return check(), answer(cuEventDestroy_v2(event)); }
int hipEventRecord(CUevent event, CUstream stream) {
    return check_stream(stream), answer(cuEventRecord(event, stream));
}
int hipEventQuery(CUevent event) {
    check();
    if (event->stream && event->stream->is_destroyed) die("asked for an event of a stream that is gone");
    if (event->stream && event->stream->capture) {
        event->stream->capture->is_invalid = 1;
        return answer(907);
    }
    return answer(cuEventQuery(event));
}
int hipEventElapsedTime(float* ms, CUevent begin, CUevent end) {
    return check(), answer(cuEventElapsedTime(ms, begin, end));
}

struct attributes {
    int type, device;
    void *on_device, *on_host;
    int is_managed;
    unsigned flags;
};
int hipPointerGetAttributes(struct attributes* attributes, const void* pointer) {
    check();
    ++pointer_queries;
    const int kind = claimed((uint64_t)pointer), is_6 = version() >= 60000000;
    memset(attributes, 0, sizeof *attributes);
    if (kind == 0) return answer(is_6 ? 0 : 1);
    attributes->type = kind == 8 ? (is_6 ? 3 : 4) : is_6 ? 2 : 1;
    attributes->is_managed = kind == 8 && is_6;
    return answer(0);
}
