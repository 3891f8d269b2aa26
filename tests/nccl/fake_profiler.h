/* The double's profiler interface, as NCCL's versions have it: the plugin that NCCL_PROFILER_PLUGIN names is opened,
 * asked for the newest version that this double knows ($FAKE_NCCL_PROFILER, 0 to 7), told of each communicator, and of
 * each operation when it is launched. What it was told goes to $FAKE_NCCL_TOLD.<pid>, one "function size ranks
 * algorithm protocol channels operations" a line, size being that of the message: the expected table. Included by
 * fake_nccl.c alone. */
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the layouts, as NCCL's headers say them; by hand, so that the product's own are checked ---- */
union descriptor {
    unsigned char bytes[256];
    uint64_t words[32];
};
struct table {
    const char* name;
    void* init;
    int (*start)(void*, void**, void*);
    int (*stop)(void*);
    int (*state)(void*, int, void*);
    int (*finalize)(void*);
};
enum {
    event_group = 1,
    event_collective = 2,
    event_point_to_point = 4,
    event_collective_call = 1 << 9,
    event_point_to_point_call = 1 << 10,
    event_kernel_launch = 1 << 11
};

static _Thread_local int group_depth;
static _Thread_local ncclComm_t born[64];
static _Thread_local int unborn;

static struct table* profiler;
static int profiler_version, profiler_users;
/* The real NCCL has one for the process, which its other threads read while a communicator is made. */
static int no_mask, *profiler_mask = &no_mask;
/* Whoever writes it when it is what the plugin wants already would lose what these threads do meanwhile: that ends the
 * process where FAKE_NCCL_MASK=once. */
static void guard_mask(int may_be_written) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (profiler_mask == &no_mask)
        profiler_mask = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (getenv("FAKE_NCCL_MASK")) mprotect(profiler_mask, page, may_be_written ? PROT_READ | PROT_WRITE : PROT_READ);
}
static void* profiler_library;
static pthread_mutex_t profiler_lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    char text[160];
    unsigned long operations;
} told[512];
static int told_used;
static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;

static void note_told(const char* function, unsigned long size, int ranks, const char* algorithm, const char* protocol,
                      int channels) {
    char text[160];
    snprintf(text, sizeof text, "%s %lu %d %s %s %d", function, size, ranks, algorithm, protocol, channels);
    pthread_mutex_lock(&told_lock);
    int i = 0;
    while (i < told_used && strcmp(told[i].text, text) != 0) ++i;
    if (i == told_used && told_used < 512) strcpy(told[told_used++].text, text);
    told[i].operations += 1;
    pthread_mutex_unlock(&told_lock);
}
static void write_told(void) {
    const char* prefix = getenv("FAKE_NCCL_TOLD");
    char path[4096];
    if (!prefix) return;
    snprintf(path, sizeof path, "%s.%d", prefix, (int)getpid());
    FILE* file = fopen(path, "w");
    if (!file) return;
    for (int i = 0; i < told_used; ++i) fprintf(file, "%s %lu\n", told[i].text, told[i].operations);
    fclose(file);
}

static int newest_profiler(void) {
    const char* set = getenv("FAKE_NCCL_PROFILER");
    return set ? atoi(set) : 6;
}
static void load_profiler(void) {
    const char* plugin = getenv("NCCL_PROFILER_PLUGIN");
    const int newest = newest_profiler();
    pthread_mutex_lock(&profiler_lock);
    if (profiler_users++ == 0 && plugin && newest > 0) {
        profiler_library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
        if (!profiler_library) fprintf(stderr, "fake NCCL: %s\n", dlerror());
        for (int version = newest; profiler_library && !profiler && version > 0; --version) {
            char name[32];
            snprintf(name, sizeof name, "ncclProfiler_v%d", version);
            profiler = dlsym(profiler_library, name);
            profiler_version = version;
        }
    }
    pthread_mutex_unlock(&profiler_lock);
}
static void unload_profiler(void) {
    pthread_mutex_lock(&profiler_lock);
    if (--profiler_users == 0 && profiler_library) {
        dlclose(profiler_library);
        profiler_library = NULL;
        profiler = NULL;
    }
    pthread_mutex_unlock(&profiler_lock);
}

static void* tell_of_communicator_now(void* argument) {
    ncclComm_t comm = argument;
    load_profiler();
    if (!profiler) return NULL;
    int result;
    guard_mask(!*profiler_mask);
    if (profiler_version <= 3)
        result = ((int (*)(void**, int*))profiler->init)(&comm->profiler_context, profiler_mask);
    else if (profiler_version == 4)
        result = ((int (*)(void**, int*, const char*, uint64_t, int, int, int, void*))profiler->init)(
            &comm->profiler_context, profiler_mask, comm->name[0] ? comm->name : NULL, comm->hash, 1, comm->size,
            comm->rank, NULL);
    else
        result = ((int (*)(void**, uint64_t, int*, const char*, int, int, int, void*))profiler->init)(
            &comm->profiler_context, comm->hash, profiler_mask, comm->name[0] ? comm->name : NULL, 1, comm->size,
            comm->rank, NULL);
    guard_mask(0);
    if (result) fprintf(stderr, "fake NCCL: the plugin's init says %d\n", result);
    return NULL;
}
static void in_a_thread(void* (*function)(void*), void* argument) {
    pthread_t thread;
    pthread_create(&thread, NULL, function, argument);
    pthread_join(thread, NULL);
}
static void tell_of_communicator(ncclComm_t comm) {
    if (group_depth > 0 && unborn < 64)
        born[unborn++] = comm;
    else if (comm->is_nonblocking)
        in_a_thread(tell_of_communicator_now, comm);
    else
        tell_of_communicator_now(comm);
}
static void tell_of_end(ncclComm_t comm) {
    if (profiler && comm->profiler_context) profiler->finalize(comm->profiler_context);
    unload_profiler();
}

/* NCCL has no name for ncclUint8, which is PyTorch's uint8 and bool. */
static const char* const type_names[] = {"ncclInt8",    "Unknown",      "ncclInt32",      "ncclUint32",
                                         "ncclInt64",   "ncclUint64",   "ncclFloat16",    "ncclFloat32",
                                         "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
static const char* const functions_of_1[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                             "AllReduce", "SendRecv", "Send",      "Recv"};
static const char* const algorithm_names[] = {"TREE",      "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS",
                                              "NVLS_TREE", "PAT"};
static const char* const protocol_names[] = {"LL", "LL128", "SIMPLE"};

static void put_pointer(union descriptor* d, int at, const void* p) { memcpy(d->bytes + at, &p, 8); }
static void put_64(union descriptor* d, int at, uint64_t v) { memcpy(d->bytes + at, &v, 8); }
static void put_32(union descriptor* d, int at, uint32_t v) { memcpy(d->bytes + at, &v, 4); }

/* The program's, in version 7; before that nothing is there which may be read. */
static void put_tag(union descriptor* d, int at, uint64_t tag) {
    if (profiler_version >= 5) put_64(d, at, profiler_version >= 7 ? tag : 0x5555555555555555u);
}

static void put_type(union descriptor* d, int event) {
    if (profiler_version >= 5)
        d->words[0] = (uint64_t)event;
    else {
        d->words[0] = 0x5555555555555500u; /* what lies beside a byte */
        d->bytes[0] = (unsigned char)event;
    }
}

static int number_of(const char* function) {
    int i = 0;
    while (strcmp(functions_of_1[i], function) != 0) ++i;
    return i;
}

static _Thread_local void* group_in_hand; /* the parent of what lies inside of it, as the plugin named it */
static void start_and_stop(ncclComm_t comm, union descriptor* d) {
    void* handle = NULL;
    if (profiler->start(comm->profiler_context, &handle, d))
        fprintf(stderr, "fake NCCL: the plugin's startEvent failed\n");
    if (handle) profiler->stop(handle);
}

static void tell_of_collective(const struct task* t) {
    const unsigned long block = t->count * t->size_of_type,
                        message = block * (unsigned long)(t->blocks ? t->comm->size : 1);
    const int algorithm = message <= 4096    ? 1
                          : message <= 65536 ? 0
                                             : 4,
              protocol = message <= 4096    ? 0
                         : message <= 65536 ? 1
                                            : 2;
    const int channels = message <= 4096 ? 2 : message <= 65536 ? 8 : 32;
    size_t count = t->count;
    int type = t->type;
    if (strcmp(t->function, "AllGather") == 0 || strcmp(t->function, "Broadcast") == 0) count = block, type = ncclInt8;
    union descriptor d;
    memset(&d, 0, sizeof d);
    put_tag(&d, 128, t->tag);
    put_type(&d, event_collective);
    put_pointer(&d, 8, group_in_hand);
    if (profiler_version >= 5) put_pointer(&d, 104, group_in_hand);
    put_32(&d, 16, (uint32_t)t->comm->rank);
    if (profiler_version <= 3) {
        put_pointer(&d, 24, t->comm->name[0] ? t->comm->name : NULL);
        put_64(&d, 32, t->comm->hash);
        put_64(&d, 40, 1);
        put_64(&d, 72, count);
        const unsigned long traffic = t->blocks ? message : strcmp(t->function, "AllReduce") == 0 ? 2 * block : block;
        if (profiler_version == 1) {
            d.bytes[48] = (unsigned char)number_of(t->function);
            d.bytes[84] = (unsigned char)type;
            put_64(&d, 96, traffic);
            d.bytes[104] = (unsigned char)channels;
            d.bytes[106] = (unsigned char)algorithm;
            d.bytes[107] = (unsigned char)protocol;
        } else {
            put_pointer(&d, 48, t->function);
            put_pointer(&d, 88, type_names[type]);
            if (profiler_version == 2) put_64(&d, 96, traffic);
            d.bytes[profiler_version == 2 ? 104 : 96] = (unsigned char)channels;
            put_pointer(&d, profiler_version == 2 ? 112 : 104, algorithm_names[algorithm]);
            put_pointer(&d, profiler_version == 2 ? 120 : 112, protocol_names[protocol]);
        }
    } else {
        put_64(&d, 24, 1);
        put_pointer(&d, 32, t->function);
        put_64(&d, 56, count);
        put_pointer(&d, 72, type_names[type]);
        d.bytes[80] = (unsigned char)channels;
        put_pointer(&d, 88, algorithm_names[algorithm]);
        put_pointer(&d, 96, protocol_names[protocol]);
    }
    note_told(t->function, message, t->comm->size, algorithm_names[algorithm], protocol_names[protocol], channels);
    const char* untold = getenv("FAKE_NCCL_UNTOLD");
    if (untold && strcmp(untold, t->function) == 0) return;
    if (*profiler_mask & event_collective) start_and_stop(t->comm, &d);
}

static void tell_of_message(const struct task* t, const char* function) {
    union descriptor d;
    memset(&d, 0, sizeof d);
    put_tag(&d, 72, t->tag);
    put_type(&d, event_point_to_point);
    put_pointer(&d, 8, group_in_hand);
    if (profiler_version >= 5) put_pointer(&d, 64, group_in_hand);
    put_32(&d, 16, (uint32_t)t->comm->rank);
    if (profiler_version <= 3) {
        put_pointer(&d, 24, t->comm->name[0] ? t->comm->name : NULL);
        put_64(&d, 32, t->comm->hash);
        put_64(&d, 64, t->count);
        if (profiler_version == 1) {
            d.bytes[40] = (unsigned char)number_of(function);
            d.bytes[56] = (unsigned char)t->type;
        } else {
            put_pointer(&d, 40, function);
            put_pointer(&d, 56, type_names[t->type]);
        }
    } else {
        put_pointer(&d, 24, function);
        put_pointer(&d, 40, type_names[t->type]);
        put_64(&d, 48, t->count);
        d.bytes[60] = 4;
    }
    note_told(function, t->count * t->size_of_type, t->comm->size, "-", "-", profiler_version <= 3 ? 0 : 4);
    if (*profiler_mask & event_point_to_point) start_and_stop(t->comm, &d);
}

/* A call itself, in the thread that makes it: from version 5 on, and of what FAKE_NCCL_UNTOLD names nothing else is
 * told, as of Broadcast by NCCL 2.30. What consists of messages is told as these. */
static void tell_of_call_as(const struct task* t, const char* function) {
    const int is_message = strcmp(function, "Send") == 0 || strcmp(function, "Recv") == 0;
    const int wanted =
        is_message ? event_point_to_point_call | event_point_to_point : event_collective_call | event_collective;
    if (!(*profiler_mask & wanted)) return;
    union descriptor d;
    memset(&d, 0, sizeof d);
    put_type(&d, is_message ? event_point_to_point_call : event_collective_call);
    put_pointer(&d, 24, function);
    put_64(&d, 32, t->count);
    put_pointer(&d, 40, type_names[t->type]);
    start_and_stop(t->comm, &d);
}
static void tell_of_call(const struct task* t) {
    if (!profiler || !t->comm->profiler_context || profiler_version < 5) return;
    const int size = t->comm->size, is_root = t->comm->rank == 0;
    const int scatters = strcmp(t->function, "Scatter") == 0, gathers = strcmp(t->function, "Gather") == 0;
    if (strcmp(t->function, "AlltoAll") == 0)
        for (int i = 0; i < size; ++i) tell_of_call_as(t, "Send"), tell_of_call_as(t, "Recv");
    else if (scatters || gathers) {
        for (int i = 0; is_root && i < size; ++i) tell_of_call_as(t, scatters ? "Send" : "Recv");
        tell_of_call_as(t, scatters ? "Recv" : "Send");
    } else if (size > 1 || strcmp(t->function, "Send") == 0 || strcmp(t->function, "Recv") == 0)
        tell_of_call_as(t, t->function);
}

static void tell_of_task(const struct task* t) {
    const int is_message = strcmp(t->function, "Send") == 0 || strcmp(t->function, "Recv") == 0;
    if (is_message)
        tell_of_message(t, t->function);
    else if (strcmp(t->function, "AlltoAll") == 0)
        for (int i = 0; i < t->comm->size; ++i) tell_of_message(t, "Send"), tell_of_message(t, "Recv");
    else if (strcmp(t->function, "Gather") == 0) {
        tell_of_message(t, "Send");
        for (int i = 0; t->comm->rank == 0 && i < t->comm->size; ++i) tell_of_message(t, "Recv");
    } else if (strcmp(t->function, "Scatter") == 0) {
        for (int i = 0; t->comm->rank == 0 && i < t->comm->size; ++i) tell_of_message(t, "Send");
        tell_of_message(t, "Recv");
    } else if (t->comm->size > 1) /* a rank alone copies, and tells nobody */
        tell_of_collective(t);
}

/* Right before a kernel's launch: what is given to tell_of_launched() right behind it. From version 5 on. */
static void* tell_of_launch(ncclComm_t comm, void* stream) {
    if (!profiler || !comm->profiler_context || profiler_version < 5 || !(*profiler_mask & event_kernel_launch))
        return NULL;
    union descriptor d;
    memset(&d, 0, sizeof d);
    d.words[0] = event_kernel_launch;
    put_pointer(&d, 24, stream);
    void* handle = NULL;
    profiler->start(comm->profiler_context, &handle, &d);
    return handle;
}
static void tell_of_launched(void* handle) {
    if (handle) profiler->stop(handle);
}

/* What one kernel does, behind its launch: a group event round the events of its operations, which versions before 5
 * tell of only inside it. */
static void tell_of_plan(const struct task* const* tasks, int n) {
    ncclComm_t comm = tasks[0]->comm;
    if (!profiler || !comm->profiler_context ||
        !(*profiler_mask & (event_group | event_collective | event_point_to_point)))
        return;
    union descriptor d;
    memset(&d, 0, sizeof d);
    put_type(&d, event_group);
    void* group = NULL;
    profiler->start(comm->profiler_context, &group, &d);
    if (!group && profiler_version < 5) return;
    group_in_hand = group;
    for (int i = 0; i < n; ++i) tell_of_task(tasks[i]);
    group_in_hand = NULL;
    if (group) profiler->stop(group);
}

/* The last lone operation once more, as a graph with work for NCCL's proxy would be: in a thread of CUDA's. */
static struct task last_lone;
static void* replay_one(void* none) {
    const struct task* one = &last_lone;
    tell_of_plan(&one, 1);
    return none;
}
void fake_nccl_replay(int times) {
    for (int i = 0; i < times; ++i) in_a_thread(replay_one, NULL);
}
static void tell_of_births(void) {
    for (int i = 0; i < unborn; ++i) in_a_thread(tell_of_communicator_now, born[i]);
    unborn = 0;
}
