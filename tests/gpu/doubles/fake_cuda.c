/* A libcuda.so.1 whose GPUs are arithmetic: a clock that only its own functions move, streams that end when their last
 * work does, events that remember such a moment, captures and graphs. So every time that a test expects is exact:
 *
 *   launch: the kernel begins 500 ns after the call, or when its stream is free; the call itself takes 1 us of the host
 *   event:  happens when its stream is free; is over once the clock has come there
 *   cuStreamSynchronize moves the clock to the end of the stream
 *
 * It is as strict as the real one where a profiler could hurt a program or be refused: events and streams of two
 * contexts do not mix, nor those of before and behind a reset of the device, a thread that said that it has no context
 * has none, asking for an event while somebody captures globally invalidates that capture, and whoever calls it in a
 * forked child, or after its own end at exit, is ended. */
#define _GNU_SOURCE
#include "tests/gpu/doubles/cuda.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { devices = 4, most_nodes = 64, before_kernel = 500, host_call = 1000 };

struct fake_stream {
    CUcontext context;
    uint64_t free_at;
    CUgraph capture;
    int capture_mode, is_destroyed;
};
struct fake_context {
    int device;
    unsigned long long id; /* another one after each reset */
    struct fake_stream null_stream;
};
struct fake_event {
    CUcontext context;
    CUstream stream;
    unsigned long long context_id;
    uint64_t at;
    int is_recorded;
};
struct fake_graph {
    int nodes, is_invalid;
    uint64_t capture; /* the number of it */
    struct {
        const char* name;
        uint64_t ns;
    } node[most_nodes];
};

static struct fake_context contexts[devices];
static uint64_t clock_ns = 1000000;
static int is_initialized, is_broken, is_child, is_gone, failing_queries;
static int global_captures;
static CUgraph captures[16];
static uint64_t capture_numbers;
static const struct fake_watcher* watcher;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local CUcontext current;
static _Thread_local CUcontext pushed[8];
static _Thread_local int depth, is_bare;
static _Thread_local int thread_mode = capture_global;

/* Every function begins so, and ends by giving the lock back. */
static int enter(void) {
    if (is_gone) {
        static const char text[] = "fake CUDA: called after its own end\n";
        (void)!write(2, text, sizeof text - 1);
        _exit(98);
    }
    if (is_child) {
        static const char text[] = "fake CUDA: called in a forked child\n";
        (void)!write(2, text, sizeof text - 1);
        _exit(99);
    }
    if (!is_initialized) return CUDA_ERROR_NOT_INITIALIZED;
    if (is_broken) return CUDA_ERROR_ILLEGAL_ADDRESS;
    pthread_mutex_lock(&lock);
    if (!current && !is_bare) current = &contexts[0];
    return 0;
}
static int leave(int result) {
    pthread_mutex_unlock(&lock);
    return result;
}
#define ENTER()                 \
    do {                        \
        const int no = enter(); \
        if (no) return no;      \
    } while (0)

static void in_child(void) { is_child = 1; }
__attribute__((constructor)) static void loaded(void) {
    for (int i = 0; i < devices; ++i) {
        contexts[i].device = i;
        contexts[i].id = (unsigned long long)i + 1;
        contexts[i].null_stream.context = &contexts[i];
    }
    pthread_atfork(NULL, NULL, in_child);
}
static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }
/* 1 and 2 are other names of default streams. */
static CUstream stream_of(CUstream stream) { return (uintptr_t)stream > 2 ? stream : &current->null_stream; }
static uint32_t tell_api(int cbid) {
    if (!watcher) return 0;
    pthread_mutex_unlock(&lock);
    const uint32_t correlation = watcher->api(cbid);
    pthread_mutex_lock(&lock);
    return correlation;
}
/* What the real one calls "unsafe": it would order itself into whatever is being captured. */
static void unsafe_call(void) {
    if (global_captures == 0 || thread_mode == capture_relaxed) return;
    for (int i = 0; i < 16; ++i)
        if (captures[i]) captures[i]->is_invalid = 1;
}

static void end(void) { is_gone = 1; }
int cuInit(unsigned flags) {
    (void)flags;
    if (is_child) return CUDA_ERROR_NOT_INITIALIZED;
    if (!is_initialized) atexit(end);
    is_initialized = 1;
    return 0;
}
int cuDriverGetVersion(int* version) {
    const char* set = getenv("FAKE_CUDA_VERSION");
    *version = set ? atoi(set) : 13000;
    return 0;
}
int cuDevicePrimaryCtxRetain(CUcontext* context, int device) {
    ENTER();
    *context = &contexts[device];
    return leave(0);
}
int cuCtxGetCurrent(CUcontext* context) {
    ENTER();
    *context = current;
    return leave(0);
}
int cuCtxSetCurrent(CUcontext context) {
    ENTER();
    current = context;
    is_bare = !context;
    return leave(0);
}
int cuCtxGetId(CUcontext context, unsigned long long* id) {
    ENTER();
    *id = context->id;
    return leave(0);
}
int cuCtxPushCurrent_v2(CUcontext context) {
    ENTER();
    pushed[depth++] = current;
    current = context;
    return leave(0);
}
int cuCtxPopCurrent_v2(CUcontext* context) {
    ENTER();
    if (context) *context = current;
    current = pushed[--depth];
    return leave(0);
}
int cuCtxGetDevice(int* device) {
    ENTER();
    *device = current->device;
    return leave(0);
}
int cuStreamCreate(CUstream* stream, unsigned flags) {
    (void)flags;
    ENTER();
    *stream = calloc(1, sizeof **stream);
    (*stream)->context = current;
    return leave(0);
}
int cuStreamDestroy_v2(CUstream stream) {
    ENTER();
    stream->is_destroyed = 1; /* and known as such for ever */
    return leave(0);
}
int cuStreamGetCtx(CUstream stream, CUcontext* context) {
    ENTER();
    *context = stream_of(stream)->context;
    return leave(0);
}
int cuStreamIsCapturing(CUstream stream, int* is) {
    ENTER();
    *is = stream_of(stream)->capture ? 1 : 0;
    return leave(stream_of(stream)->is_destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : 0);
}
int cuStreamGetCaptureInfo_v2(CUstream stream, int* status, uint64_t* id, CUgraph* graph, void** nodes, size_t* n) {
    ENTER();
    const CUgraph capture = stream_of(stream)->capture;
    *status = capture ? 1 : 0;
    if (capture && id) *id = capture->capture;
    if (capture && graph) *graph = capture;
    if (nodes) *nodes = NULL;
    if (n) *n = 0;
    return leave(0);
}
int cuStreamSynchronize(CUstream stream) {
    ENTER();
    unsafe_call();
    clock_ns = later(clock_ns, stream_of(stream)->free_at);
    return leave(0);
}
int cuStreamBeginCapture_v2(CUstream stream, int mode) {
    ENTER();
    stream->capture = calloc(1, sizeof *stream->capture);
    stream->capture->capture = ++capture_numbers;
    stream->capture_mode = mode;
    if (mode == capture_global) ++global_captures;
    for (int i = 0; i < 16; ++i)
        if (!captures[i]) {
            captures[i] = stream->capture;
            break;
        }
    return leave(0);
}
int cuStreamEndCapture(CUstream stream, CUgraph* graph) {
    ENTER();
    *graph = stream->capture;
    for (int i = 0; i < 16; ++i)
        if (captures[i] == stream->capture) captures[i] = NULL;
    if (stream->capture_mode == capture_global) --global_captures;
    stream->capture = NULL;
    return leave((*graph)->is_invalid ? CUDA_ERROR_CAPTURE_INVALIDATED : 0);
}
int cuThreadExchangeStreamCaptureMode(int* mode) {
    ENTER();
    const int before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return leave(0);
}
int cuEventCreate(CUevent* event, unsigned flags) {
    (void)flags;
    ENTER();
    *event = calloc(1, sizeof **event);
    (*event)->context = current;
    (*event)->context_id = current->id;
    return leave(0);
}
int cuEventRecord(CUevent event, CUstream stream) {
    ENTER();
    CUstream s = stream_of(stream);
    if (s->context != event->context) return leave(CUDA_ERROR_INVALID_HANDLE);
    if (event->context_id != event->context->id) return leave(CUDA_ERROR_CONTEXT_IS_DESTROYED);
    if (s->capture) s->capture->is_invalid = 1; /* it would be a node of the graph: nobody should have asked for one */
    event->at = s->free_at = later(clock_ns, s->free_at);
    event->is_recorded = 1;
    event->stream = stream;
    return leave(0);
}
int cuEventQuery(CUevent event) {
    ENTER();
    unsafe_call();
    if (!current) return leave(CUDA_ERROR_INVALID_CONTEXT);
    if (failing_queries > 0) return --failing_queries, leave(CUDA_ERROR_UNKNOWN);
    if (event->context_id != event->context->id) return leave(CUDA_ERROR_CONTEXT_IS_DESTROYED);
    return leave(event->at <= clock_ns ? 0 : CUDA_ERROR_NOT_READY);
}
int cuEventElapsedTime(float* ms, CUevent begin, CUevent end) {
    ENTER();
    if (!current) return leave(CUDA_ERROR_INVALID_CONTEXT);
    if (!begin->is_recorded || !end->is_recorded || begin->context != end->context)
        return leave(CUDA_ERROR_INVALID_HANDLE);
    if (end->at > clock_ns) return leave(CUDA_ERROR_NOT_READY);
    *ms = (float)((double)(end->at - begin->at) / 1e6);
    return leave(0);
}
int cuEventDestroy_v2(CUevent event) {
    ENTER();
    free(event);
    return leave(0);
}

static void run_kernel(CUstream s, const char* name, uint64_t ns, uint32_t correlation, uint64_t graph_node) {
    const uint64_t start = later(clock_ns + before_kernel, s->free_at);
    s->free_at = start + ns;
    if (watcher) watcher->kernel(name, start, s->free_at, (uint32_t)s->context->device, correlation, graph_node);
}
static int launch(int cbid, const char* name, uint64_t ns, CUstream stream) {
    ENTER();
    CUstream s = stream_of(stream);
    const uint32_t correlation = tell_api(cbid);
    if (s->capture) {
        if (s->capture->nodes == most_nodes) return leave(CUDA_ERROR_INVALID_VALUE);
        s->capture->node[s->capture->nodes].name = name;
        s->capture->node[s->capture->nodes++].ns = ns;
    } else {
        run_kernel(s, name, ns, correlation, 0);
    }
    clock_ns += host_call;
    return leave(0);
}
int fake_cuda_launch(const char* name, uint64_t ns, CUstream stream) { return launch(652, name, ns, stream); }
int cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, CUstream stream, void** parameters, void** extra) {
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)parameters, (void)extra;
    return launch(307, f->name, f->ns, stream);
}
CUgraph fake_cuda_copy(CUgraph graph) {
    CUgraph copy = malloc(sizeof *copy);
    *copy = *graph;
    return copy;
}
int fake_cuda_append(CUgraph graph, CUgraph child) {
    if (graph->nodes + child->nodes > most_nodes) return CUDA_ERROR_INVALID_VALUE;
    memcpy(graph->node + graph->nodes, child->node, (size_t)child->nodes * sizeof child->node[0]);
    graph->nodes += child->nodes;
    return 0;
}
void fake_cuda_capture_to(CUstream stream, CUgraph graph) {
    graph->capture = ++capture_numbers;
    stream->capture = graph;
    stream->capture_mode = capture_relaxed;
}
void fake_cuda_join(CUstream stream, CUstream to) { stream->capture = to ? to->capture : NULL; }
int cuGraphLaunch(CUgraph graph, CUstream stream) {
    ENTER();
    const uint32_t correlation = tell_api(514);
    if (stream_of(stream)->capture) return leave(fake_cuda_append(stream_of(stream)->capture, graph));
    for (int i = 0; i < graph->nodes; ++i)
        run_kernel(stream_of(stream), graph->node[i].name, graph->node[i].ns, correlation,
                   0x700000000ull + (unsigned)i);
    clock_ns += host_call;
    return leave(0);
}
/* A byte takes a nanosecond. */
static int copy(int kind, size_t bytes, CUstream stream) {
    ENTER();
    CUstream s = stream_of(stream);
    const uint64_t start = later(clock_ns + before_kernel, s->free_at);
    s->free_at = start + bytes;
    if (watcher)
        watcher->copy(kind, bytes, start, s->free_at, (uint32_t)s->context->device, tell_api(kind == 1 ? 279 : 281));
    clock_ns += host_call;
    return leave(0);
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, CUstream stream) {
    (void)to, (void)from;
    return copy(1, bytes, stream);
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, CUstream stream) {
    (void)to, (void)from;
    return copy(2, bytes, stream);
}

uint64_t fake_cuda_now(void) { return clock_ns; }
void fake_cuda_host(uint64_t ns) {
    pthread_mutex_lock(&lock);
    clock_ns += ns;
    pthread_mutex_unlock(&lock);
}
void fake_cuda_break(void) { is_broken = 1; }
void fake_cuda_fail(int queries) { failing_queries = queries; }
void fake_cuda_reset(int device) { contexts[device].id += devices; }
void fake_cuda_watch(const struct fake_watcher* w) { watcher = w; }

/* ---- whose memory it is ---- */

enum { most_claims = 8 };
static struct {
    uint64_t begin, end;
    int kind;
} claims[most_claims];
static unsigned long pointer_queries;
unsigned long fake_cuda_pointer_queries(void) { return pointer_queries; }
void fake_cuda_claim(const void* begin, size_t bytes, int kind) {
    int i = 0;
    while (i < most_claims && claims[i].begin != (uint64_t)begin && claims[i].kind != 0) ++i;
    if (i == most_claims) abort();
    claims[i].begin = (uint64_t)begin;
    claims[i].end = (uint64_t)begin + bytes;
    claims[i].kind = kind;
}
static int claimed(uint64_t pointer) {
    int kind = 0;
    for (int i = 0; i < most_claims; ++i)
        if (claims[i].begin <= pointer && pointer < claims[i].end) kind = claims[i].kind;
    return kind;
}
/* Of memory that CUDA does not know all answers are 0, and there is no error. */
int cuPointerGetAttributes(unsigned n, const int* attributes, void** data, uint64_t pointer) {
    ENTER();
    const int kind = claimed(pointer);
    for (unsigned i = 0; i < n; ++i) {
        if (attributes[i] == 2)
            *(unsigned*)data[i] = kind ? 2 : 0;
        else if (attributes[i] == 8)
            *(unsigned*)data[i] = kind == 8;
        else
            abort();
    }
    ++pointer_queries;
    return leave(0);
}
