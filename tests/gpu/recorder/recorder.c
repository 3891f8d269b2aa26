/* Records what the real NCCL tells a profiler plugin and what the real CUPTI hands over, so that tests can replay it
 * where there is no GPU:
 *
 *   NCCL_PROFILER_PLUGIN=.../libmpiprof-recorder.so RECORDING_OUT=DIR/rank program
 *
 * leaves DIR/rank.<rank>. It is a plugin of NCCL's and nothing else: without libmpiprof.so, which must not be preloaded
 * beside it. Meant for a program of a few operations; every line is written at once.
 *
 *   RECORDING_CUPTI   the library to take for CUPTI; "none": record NCCL alone
 */
#define _GNU_SOURCE
#include "tests/gpu/recorder/activity.h"
#include "tests/gpu/recorder/descriptors.h"
#include "tests/gpu/recorder/file.h"

static uint64_t contexts, events, launches;
static int is_started;
static _Thread_local uint64_t launch_in_hand; /* the event */

/* The last thing that is told; CUDA and CUPTI, which came before us, are there yet. */
static void end(void) {
    if (!may_write()) return;
    flush_cupti(1);
    pthread_mutex_lock(&file_lock);
    close_file();
    pthread_mutex_unlock(&file_lock);
}
static void start(void) {
    if (is_started) return;
    is_started = 1;
    open_file();
    if (!file) return;
    /* NCCL closes its plugin with the last communicator; CUPTI goes on calling us. */
    Dl_info own;
    if (dladdr((void*)&start, &own)) dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    start_cupti();
    atexit(end);
}

static int init(int version, void** context, int* mask, const char* name, uint64_t id, int nodes, int size, int rank) {
    const int thread = this_thread();
    pthread_mutex_lock(&file_lock);
    start();
    *context = (void*)(uintptr_t)++contexts;
    *mask = event_collective | event_point_to_point | (version >= 5 ? event_kernel_launch : 0);
    put("init %lu %d %d %lu %d %d %d %d", contexts, thread, version, id, nodes, size, rank, name != NULL);
    end_line();
    pthread_mutex_unlock(&file_lock);
    return 0;
}

static uint64_t pointer_at(const unsigned char* bytes, size_t at) {
    uint64_t pointer;
    memcpy(&pointer, bytes + at, sizeof pointer);
    return pointer;
}
/* Pointers are taken out of it and told behind it, as what they lead to. */
static void put_descriptor(const struct descriptor* d, const void* event) {
    unsigned char bytes[256] = {0};
    memcpy(bytes, event, d->bytes);
    const size_t* const lists[] = {d->texts, &d->name, d->parents, d->addresses};
    const int lengths[] = {4, 1, 2, 2};
    for (int l = 0; l < 4; ++l)
        for (int i = 0; i < lengths[l] && lists[l][i]; ++i) memset(bytes + lists[l][i], 0, sizeof(void*));
    put_bytes(bytes, d->bytes);
    for (int l = 0; l < 4; ++l)
        for (int i = 0; i < lengths[l] && lists[l][i]; ++i) {
            const uint64_t pointer = pointer_at(event, lists[l][i]);
            if (!pointer) continue;
            put(" %zu", lists[l][i]);
            if (l == 0) put("="), put_word((const char*)pointer, in_name);
            if (l == 1) put("=name"); /* the user's word is not told */
            if (l == 2) put("@%lu", pointer);
            if (l == 3) put("&");
        }
}
static int start_event(int version, void* context, void** handle, const void* event) {
    const unsigned long type = version >= 5 ? *(const uint64_t*)event : *(const uint8_t*)event;
    const int thread = this_thread(), is_launch = type == event_kernel_launch;
    pthread_mutex_lock(&file_lock);
    const uint64_t number = ++events, launch = launches += (uint64_t)is_launch;
    *handle = (void*)(uintptr_t)number;
    put("start %lu %lu %d %lu", number, (uint64_t)(uintptr_t)context, thread, type);
    put_descriptor(descriptor_of(version, type), event);
    end_line();
    pthread_mutex_unlock(&file_lock);
    if (!is_launch) return 0;
    launch_in_hand = number;
    begin_launch(launch);
    return 0;
}
static int stop_event(void* handle) {
    const uint64_t number = (uint64_t)(uintptr_t)handle;
    if (number && launch_in_hand == number) launch_in_hand = 0, end_launch();
    const int thread = this_thread();
    pthread_mutex_lock(&file_lock);
    put("stop %lu %d", number, thread);
    end_line();
    pthread_mutex_unlock(&file_lock);
    return 0;
}
static int record_state(void* handle, int state, void* arguments) {
    (void)handle, (void)state, (void)arguments;
    return 0;
}
static int finalize(void* context) {
    const int thread = this_thread();
    flush_cupti(0);
    pthread_mutex_lock(&file_lock);
    put("finalize %lu %d", (uint64_t)(uintptr_t)context, thread);
    end_line();
    pthread_mutex_unlock(&file_lock);
    return 0;
}

#define BEGIN_OLD(version) \
    static int init_##version(void** context, int* mask) { return init(version, context, mask, NULL, 0, 0, 0, 0); }
#define BEGIN_4(version)                                                                                               \
    static int init_##version(void** context, int* mask, const char* name, uint64_t id, int nodes, int size, int rank, \
                              void* log) {                                                                             \
        (void)log;                                                                                                     \
        return init(version, context, mask, name, id, nodes, size, rank);                                              \
    }
#define BEGIN_NEW(version)                                                                                             \
    static int init_##version(void** context, uint64_t id, int* mask, const char* name, int nodes, int size, int rank, \
                              void* log) {                                                                             \
        (void)log;                                                                                                     \
        return init(version, context, mask, name, id, nodes, size, rank);                                              \
    }
#define PLUGIN(version, BEGIN)                                                          \
    BEGIN(version)                                                                      \
    static int start_event_##version(void* context, void** handle, const void* event) { \
        return start_event(version, context, handle, event);                            \
    }                                                                                   \
    const struct {                                                                      \
        const char* name;                                                               \
        void *init, *start, *stop, *state, *finalize;                                   \
    } ncclProfiler_v##version = {"recorder", init_##version, start_event_##version, stop_event, record_state, finalize};
PLUGIN(1, BEGIN_OLD)
PLUGIN(2, BEGIN_OLD)
PLUGIN(3, BEGIN_OLD)
PLUGIN(4, BEGIN_4)
PLUGIN(5, BEGIN_NEW)
PLUGIN(6, BEGIN_NEW)
