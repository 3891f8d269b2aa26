/* A libcupti.so.13 that tells what the double of libcuda does, in records that lie as in the real one's buffers. A
 * buffer is asked for when there is something to write, and handed over as a whole, by a thread of its own, to whoever
 * registered last, as its header has it:
 *
 *   once it is full, or somebody flushes: as soon as no record in it is of something that has not ended
 *   forced, which is for the end: as it is, with times of 0 in records of what has not ended
 *   periodically: full ones alone
 *
 * Times are in the unit of the clock that a client has registered, and stay so for whoever comes next; what was
 * recorded before that and not handed over has no times (both as with CUPTI 13.0).
 *
 *   FAKE_CUPTI_SUBSCRIBE=39   what cuptiSubscribe answers
 *   FAKE_CUPTI_KERNELS_FIRST  kernels come before the records that say whose they are
 *   FAKE_CUPTI_DROPPED=n      so many records were dropped, told once
 *   FAKE_CUPTI_KERNEL_BYTES=n so long is the record of a kernel, as in other versions
 *   FAKE_CUPTI_HOARD=n        it keeps so many buffers while it delivers for the first time
 *
 * Whoever gives it no buffer ends the process, as with CUPTI before CUDA 12.9. */
#define _GNU_SOURCE
#include "tests/gpu/doubles/cuda.h"
#include "tests/gpu/doubles/cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most_open = 4096, kinds = 64, cbids = 1024 };

union record {
    uint32_t kind;
    struct kernel_record kernel;
    struct copy_record copy;
    struct api_record api;
    struct external_record external;
};
struct buffer { /* in the order in which they were begun */
    uint8_t* memory;
    size_t size, valid;
    uint64_t complete_at;
    int is_full;
};
static struct buffer opened[most_open];
static int used;
static uint8_t enabled[kinds], api_left_out[cbids];
static cupti_requested requested;
static cupti_completed completed;
static uint32_t correlations;
static void* subscriber;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int wanted, wanted_how, delivered; /* deliveries */
enum { full_ones, complete_ones, forced };
static unsigned period_ms;
static int has_worker;
static _Thread_local struct {
    uint32_t kind;
    uint64_t id;
} pushed[8];
static _Thread_local int depth;

static uint64_t (*now)(void);
static uint64_t ticks_per_ns;

static size_t kernel_bytes = sizeof(struct kernel_record);
static size_t size_of(const union record* r) {
    switch (r->kind) {
        case KIND_CONCURRENT_KERNEL:
            return kernel_bytes;
        case KIND_MEMCPY:
            return sizeof r->copy;
        case KIND_DRIVER:
            return sizeof r->api;
        default:
            return sizeof r->external;
    }
}
static uint64_t* times_of(union record* r) {
    return r->kind == KIND_CONCURRENT_KERNEL ? &r->kernel.start : r->kind == KIND_MEMCPY ? &r->copy.start : NULL;
}

static uint8_t* buffer_from(cupti_requested ask, size_t* size) {
    uint8_t* buffer = NULL;
    size_t most = 0;
    ask(&buffer, size, &most);
    if (!buffer) {
        fprintf(stderr, "fake CUPTI: no buffer\n");
        abort();
    }
    if ((uintptr_t)buffer % 8) {
        fprintf(stderr, "fake CUPTI: a buffer that is not aligned\n");
        abort();
    }
    return buffer;
}

/* As it goes out: what has not ended by then has no times, and kernels may come before what says whose they are. */
static void finish_buffer(struct buffer* b, uint64_t time) {
    uint8_t* sorted = malloc(b->valid);
    const int kernels_first = getenv("FAKE_CUPTI_KERNELS_FIRST") != NULL;
    size_t at = 0;
    for (int pass = 0; pass < 2; ++pass)
        for (size_t from = 0; from < b->valid;) {
            union record* r = (union record*)(b->memory + from);
            const size_t n = size_of(r);
            uint64_t* times = times_of(r);
            from += n;
            if ((r->kind == KIND_CONCURRENT_KERNEL) != (pass != kernels_first)) continue;
            if (times && times[1] > time) times[0] = times[1] = 0;
            if (times) times[0] *= ticks_per_ns, times[1] *= ticks_per_ns;
            memcpy(sorted + at, r, n);
            at += n;
        }
    memcpy(b->memory, sorted, b->valid);
    free(sorted);
}

/* With the lock held, which it gives back around the callbacks. */
static void deliver(int how) {
    static struct buffer out[most_open];
    const uint64_t time = now();
    int n = 0, kept = 0;
    for (int i = 0; i < used; ++i) {
        const int goes =
            how == forced || (opened[i].complete_at <= time && (how == complete_ones || opened[i].is_full));
        if (goes)
            out[n++] = opened[i];
        else
            opened[kept++] = opened[i];
    }
    used = kept;
    const cupti_completed give = completed;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < n && give; ++i) {
        finish_buffer(&out[i], time);
        give(NULL, 0, out[i].memory, out[i].size, out[i].valid);
    }
    pthread_mutex_lock(&lock);
}
static void* work(void* none) {
    pthread_mutex_lock(&lock);
    for (;;) {
        while (delivered == wanted) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_sec += period_ms / 1000, until.tv_nsec += period_ms % 1000 * 1000000;
            if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec += 1;
            if (period_ms == 0)
                pthread_cond_wait(&changed, &lock);
            else if (pthread_cond_timedwait(&changed, &lock, &until) == ETIMEDOUT)
                deliver(full_ones);
        }
        const int this_one = wanted, how = wanted_how;
        wanted_how = full_ones;
        deliver(how);
        delivered = this_one;
        pthread_cond_broadcast(&changed);
    }
    return none;
}
static void want_delivery(int how, int and_wait) {
    if (!has_worker) {
        pthread_t thread;
        has_worker = 1;
        pthread_create(&thread, NULL, work, NULL);
        pthread_detach(thread);
    }
    const int this_one = ++wanted;
    if (how > wanted_how) wanted_how = how;
    pthread_cond_broadcast(&changed);
    while (and_wait && delivered < this_one) pthread_cond_wait(&changed, &lock);
}

/* Asked for with the lock given back, as the client may call us. */
static void begin_buffer(void) {
    static int has_hoarded;
    const cupti_requested ask = requested;
    const int hoard = !has_hoarded && getenv("FAKE_CUPTI_HOARD") ? atoi(getenv("FAKE_CUPTI_HOARD")) : 0;
    struct buffer fresh = {NULL, 0, 0, 0, 0};
    size_t size = 0;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < hoard; ++i, has_hoarded = 1) buffer_from(ask, &size); /* and keeps them */
    fresh.memory = buffer_from(ask, &fresh.size);
    pthread_mutex_lock(&lock);
    if (used == most_open) {
        fprintf(stderr, "fake CUPTI: too many buffers\n");
        abort();
    }
    opened[used++] = fresh;
}
static void add(const union record* r) {
    const size_t n = size_of(r);
    uint64_t* times = times_of((union record*)r);
    pthread_mutex_lock(&lock);
    while (requested && (used == 0 || opened[used - 1].is_full || opened[used - 1].valid + n > opened[used - 1].size)) {
        if (used != 0 && !opened[used - 1].is_full) {
            opened[used - 1].is_full = 1;
            want_delivery(full_ones, 0);
        }
        begin_buffer();
    }
    if (requested) {
        struct buffer* b = &opened[used - 1];
        memcpy(b->memory + b->valid, r, n);
        b->valid += n;
        if (times && times[1] > b->complete_at) b->complete_at = times[1];
    }
    pthread_mutex_unlock(&lock);
}

static uint32_t on_api(int cbid) {
    const uint32_t correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
    if (!enabled[KIND_DRIVER] || api_left_out[cbid]) return correlation;
    union record r;
    if (enabled[KIND_EXTERNAL_CORRELATION] && depth) {
        memset(&r, 0, sizeof r);
        r.external = (struct external_record){KIND_EXTERNAL_CORRELATION, pushed[depth - 1].kind, pushed[depth - 1].id,
                                              correlation, 0};
        add(&r);
    }
    memset(&r, 0, sizeof r);
    r.api.kind = KIND_DRIVER, r.api.cbid = (uint32_t)cbid, r.api.correlation = correlation;
    add(&r);
    return correlation;
}
static void on_kernel(const char* name, uint64_t start, uint64_t end, uint32_t device, uint32_t correlation,
                      uint64_t graph_node) {
    if (!enabled[KIND_CONCURRENT_KERNEL]) return;
    union record r;
    memset(&r, 0, sizeof r);
    r.kernel.kind = KIND_CONCURRENT_KERNEL, r.kernel.start = start, r.kernel.end = end, r.kernel.device = device;
    r.kernel.correlation = correlation, r.kernel.name = name, r.kernel.graph_node = graph_node;
    add(&r);
}
static void on_copy(int kind, uint64_t bytes, uint64_t start, uint64_t end, uint32_t device, uint32_t correlation) {
    if (!enabled[KIND_MEMCPY]) return;
    union record r;
    memset(&r, 0, sizeof r);
    r.copy.kind = KIND_MEMCPY, r.copy.copy_kind = (uint8_t)kind, r.copy.bytes = bytes, r.copy.start = start,
    r.copy.end = end;
    r.copy.device = device, r.copy.correlation = correlation;
    add(&r);
}
static const struct fake_watcher watcher = {on_api, on_kernel, on_copy};

/* What one nanosecond is in a client's clock, to the nearest whole number. */
static uint64_t ticks_per_ns = 1;
static uint64_t steady_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void)) {
    if (!clock) return 1;
    const uint64_t ns = steady_ns(), ticks = clock();
    while (steady_ns() - ns < 2000000) continue;
    const uint64_t passed = clock() - ticks, in = steady_ns() - ns;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < used; ++i)
        for (size_t at = 0; at < opened[i].valid;) {
            union record* r = (union record*)(opened[i].memory + at);
            uint64_t* times = times_of(r);
            if (times) times[0] = times[1] = 0;
            at += size_of(r);
        }
    ticks_per_ns = (passed + in / 2) / in;
    pthread_mutex_unlock(&lock);
    return 0;
}

static int number(const char* name, int otherwise) { return getenv(name) ? atoi(getenv(name)) : otherwise; }
static int start(void) {
    if (now) return 0;
    kernel_bytes = (size_t)number("FAKE_CUPTI_KERNEL_BYTES", sizeof(struct kernel_record));
    void* cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!cuda) return CUPTI_UNKNOWN;
    void (*watch)(const struct fake_watcher*) = (void (*)(const struct fake_watcher*))dlsym(cuda, "fake_cuda_watch");
    now = (uint64_t(*)(void))dlsym(cuda, "fake_cuda_now");
    watch(&watcher);
    return 0;
}

int cuptiGetVersion(uint32_t* version) {
    *version = (uint32_t)number("FAKE_CUPTI_VERSION", 130001);
    return 0;
}
int cuptiSubscribe(void** handle, void* callback, void* data) {
    (void)callback, (void)data;
    const int answer = number("FAKE_CUPTI_SUBSCRIBE", 0);
    if (answer) return answer;
    if (subscriber) return CUPTI_MULTIPLE_SUBSCRIBERS;
    *handle = subscriber = &subscriber;
    return start();
}
int cuptiUnsubscribe(void* handle) {
    if (handle != subscriber || !handle) return 1;
    subscriber = NULL;
    return 0;
}
int cuptiActivityRegisterCallbacks(cupti_requested r, cupti_completed c) {
    const int no = start();
    if (no) return no;
    pthread_mutex_lock(&lock);
    requested = r;
    completed = c;
    pthread_mutex_unlock(&lock);
    return 0;
}
int cuptiActivityEnable(int kind) {
    if (!requested) return 1;
    enabled[kind] = 1;
    if (kind == KIND_DRIVER) memset(api_left_out, 0, sizeof api_left_out);
    return 0;
}
/* Before 13.0 Update 1 to disable this kind may never return. */
int cuptiActivityDisable(int kind) {
    if (kind == KIND_CONCURRENT_KERNEL && number("FAKE_CUPTI_VERSION", 130001) < 130001) abort();
    enabled[kind] = 0;
    return 0;
}
/* Without the kind it succeeds and collects nothing, as CUPTI 13.0 does once the driver is initialised. */
int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t on) {
    if (cbid == 0 || cbid >= cbids) return 1;
    api_left_out[cbid] = !on;
    return 0;
}
int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id) {
    if (depth == 8) return 1;
    pushed[depth].kind = (uint32_t)kind;
    pushed[depth++].id = id;
    return 0;
}
int cuptiActivityPopExternalCorrelationId(int kind, uint64_t* id) {
    if (depth == 0 || pushed[depth - 1].kind != (uint32_t)kind) return 1;
    --depth;
    if (id) *id = pushed[depth].id;
    return 0;
}
static int is_gone;
static void end(void) { is_gone = 1; }
__attribute__((constructor)) static void loaded(void) { atexit(end); }
int cuptiActivityFlushAll(uint32_t flag) {
    if (is_gone) {
        fprintf(stderr, "fake CUPTI: called after its own end\n");
        abort();
    }
    pthread_mutex_lock(&lock);
    if (now) want_delivery(flag ? forced : complete_ones, 1);
    pthread_mutex_unlock(&lock);
    return 0;
}
int cuptiActivityFlushPeriod(uint32_t ms) {
    pthread_mutex_lock(&lock);
    period_ms = ms;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return 0;
}
unsigned fake_cupti_period(void) { return period_ms; }
static size_t device_buffers = 250;
size_t fake_cupti_device_buffers(void) { return device_buffers; }
int cuptiActivitySetAttribute(int attribute, size_t* size, void* value) {
    if (attribute != 2 || *size != sizeof device_buffers) return 1;
    device_buffers = *(size_t*)value;
    return 0;
}
int cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, uint8_t** record) {
    uint8_t* next = *record ? *record + size_of((union record*)*record) : buffer;
    if (next >= buffer + valid) return CUPTI_NO_MORE;
    *record = next;
    return 0;
}
int cuptiActivityGetNumDroppedRecords(void* context, uint32_t stream, size_t* dropped) {
    static int told;
    (void)context, (void)stream;
    *dropped = told++ ? 0 : (size_t)number("FAKE_CUPTI_DROPPED", 0);
    return 0;
}
int cuptiFinalize(void) {
    memset(enabled, 0, sizeof enabled);
    used = 0;
    requested = NULL;
    completed = NULL;
    return 0;
}
