/* The libcuda.so.1 of fake_cuda.c with what the host code of a real NCCL needs beside it (tests/gpu/real_nccl.c):
 * kernels that take the nanoseconds that FAKE_CUDA_LAUNCHES lists, one launch after the other and then from its
 * beginning again, streams that wait for events and are captured with them, and the functions that NCCL asks of the
 * driver by name. What it does not have it does not claim: NCCL finds no virtual memory management and no multicast
 * here. */
#define cuStreamEndCapture end_capture_of_one
#include "tests/gpu/doubles/fake_cuda.c"
#undef cuStreamEndCapture

#include "tests/gpu/doubles/driver_for_nccl.h"

enum { most_streams = 64, most_objects = 64, default_launch = 50000 };

/* ---- what is captured ---- */

static CUstream joined[most_streams];
static struct {
    CUevent event;
    CUgraph graph;
} captured_events[most_streams];
static struct {
    CUgraph graph;
    void (*destroy)(void*);
    void* of;
} objects[most_objects];

static CUgraph capture_of(CUevent event) {
    for (int i = 0; i < most_streams; ++i)
        if (captured_events[i].event == event) return captured_events[i].graph;
    return NULL;
}
static void set_capture_of(CUevent event, CUgraph graph) {
    int place = -1;
    for (int i = most_streams - 1; i >= 0; --i)
        if (captured_events[i].event == event || (place < 0 && !captured_events[i].event)) place = i;
    if (place < 0) abort();
    captured_events[place].event = graph ? event : NULL;
    captured_events[place].graph = graph;
}
/* As CUDA has it: an event that is recorded on a stream that is captured belongs to the graph, and a stream that waits
 * for it is captured from then on, too. */
int fake_cuda_record(CUevent event, CUstream stream) {
    ENTER();
    CUgraph graph = stream_of(stream)->capture;
    if (graph || capture_of(event)) set_capture_of(event, graph);
    leave(0);
    return graph ? 0 : cuEventRecord(event, stream);
}
int fake_cuda_wait(CUstream stream, CUevent event) {
    ENTER();
    CUstream s = stream_of(stream);
    CUgraph graph = capture_of(event);
    if (!graph) {
        s->free_at = later(s->free_at, event->is_recorded ? event->at : 0);
    } else if (s->capture != graph) {
        if (s->capture) return leave(CUDA_ERROR_CAPTURE_INVALIDATED);
        int i = 0;
        while (i < most_streams && joined[i]) ++i;
        if (i == most_streams) abort();
        joined[i] = s;
        s->capture = graph;
    }
    return leave(0);
}
CUgraph fake_cuda_capture(CUstream stream) {
    CUgraph graph = NULL;
    if (enter() == 0) graph = stream_of(stream)->capture, leave(0);
    return graph;
}
int cuStreamEndCapture(CUstream stream, CUgraph* graph) {
    const int result = end_capture_of_one(stream, graph);
    for (int i = 0; i < most_streams; ++i) {
        if (joined[i] && joined[i]->capture == *graph) joined[i]->capture = NULL, joined[i] = NULL;
        if (captured_events[i].graph == *graph) captured_events[i].event = NULL, captured_events[i].graph = NULL;
    }
    return result;
}
void fake_cuda_keep(CUgraph graph, void (*destroy)(void*), void* of) {
    int i = 0;
    while (i < most_objects && objects[i].destroy) ++i;
    if (i == most_objects) abort();
    objects[i].graph = graph;
    objects[i].destroy = destroy;
    objects[i].of = of;
}
int cuGraphDestroy(CUgraph graph) {
    for (int i = 0; i < most_objects; ++i)
        if (objects[i].destroy && objects[i].graph == graph)
            objects[i].destroy(objects[i].of), objects[i].destroy = NULL;
    return 0;
}

/* ---- kernels, events ---- */

static uint64_t next_launch(void) {
    static const char* at;
    const char* script = getenv("FAKE_CUDA_LAUNCHES");
    if (!script || !*script) return default_launch;
    pthread_mutex_lock(&lock);
    if (!at || !*at) at = script;
    char* end;
    const uint64_t ns = strtoull(at, &end, 10);
    at = *end == ',' ? end + 1 : end;
    pthread_mutex_unlock(&lock);
    return ns;
}
int cuLaunchKernelEx(const struct launch_config* config, CUfunction f, void** parameters, void** extra) {
    (void)parameters, (void)extra;
    return fake_cuda_launch(f->name, next_launch(), config->stream);
}
int cuEventSynchronize(CUevent event) {
    ENTER();
    clock_ns = later(clock_ns, event->at);
    return leave(0);
}

/* ---- the device ---- */

int cuGetErrorString(int error, const char** text) {
    (void)error;
    *text = "an error of the double";
    return 0;
}
int cuGetErrorName(int error, const char** text) { return cuGetErrorString(error, text); }
int cuDeviceGet(int* device, int ordinal) {
    *device = ordinal;
    return ordinal < devices ? 0 : CUDA_ERROR_INVALID_VALUE;
}
int cuDeviceGetUuid(char* uuid, int device) {
    for (int i = 0; i < 16; ++i) uuid[i] = (char)(device + 1);
    return 0;
}
/* The one function of virtual memory management that NCCL asks without looking whether there is any. */
int cuMemGetAllocationGranularity(size_t* bytes, const void* properties, int option) {
    (void)properties, (void)option;
    *bytes = 2 << 20;
    return 0;
}
int cuMemGetHandleForAddressRange(void) { return 801; } /* not supported: linked by NCCL's code for networks */
/* An H100 that shares nothing with its neighbours: 132 multiprocessors, 227 KiB of shared memory, 9.0. */
int cuDeviceGetAttribute(int* value, int attribute, int device) {
    (void)device;
    switch (attribute) {
        case 16:
            *value = 132;
            break;
        case 75:
            *value = 9;
            break;
        case 97:
            *value = 227 << 10;
            break;
        default:
            *value = 0;
    }
    return 0;
}
