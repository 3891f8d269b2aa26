/* A libnccl.so.2 that moves nothing: every call is checked, counted with its bytes by the double itself, and answered.
 * As in the real library ncclX is weak and pncclX strong, and ncclBcast reaches ncclBroadcast through the PLT, where a
 * preload meets it. At exit, and at each ncclCommDestroy, the counts go to $FAKE_NCCL_COUNTS.<pid>, one "name calls
 * bytes" a line: what the program called, without what the double called itself.
 *
 * Operations are launched by their call, or by the end of the outermost group: eight of a communicator's to a kernel
 * (launches.h), and the plugin is told of each when its kernel has been launched (fake_profiler.h). What is on a
 * nonblocking communicator is launched and told of in a thread of its own. */
#define _GNU_SOURCE
#include "tests/nccl/nccl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake_comm {
    int magic, rank, size, asked;
    int is_nonblocking, is_connected;
    unsigned long hash;
    char name[32];
    char rest[40000]; /* as large as NCCL's */
    void* profiler_context;
};
struct task { /* an operation that is to be launched */
    ncclComm_t comm;
    const char* function; /* "AllReduce" */
    size_t count, size_of_type;
    int type, blocks;
    unsigned long bytes;
    void *stream, *context;
    uint64_t tag;
};
#include "tests/nccl/fake_profiler.h"
#include "tests/nccl/launches.h"
#ifdef OTHER_NCCL /* whose communicators the first would not know */
enum { alive = 0x07e3, dead = 0xdead };
#else
enum { alive = 0x600d, dead = 0xdead };
#endif

#define F(name, arguments)        \
    extern int p##name arguments; \
    int name arguments __attribute__((weak, alias("p" #name)));
NCCL_FUNCTIONS(F)
#undef F

enum {
#define F(name, arguments) of_##name,
    NCCL_FUNCTIONS(F)
#undef F
        functions
};
static const char* const names[] = {
#define F(name, arguments) #name,
    NCCL_FUNCTIONS(F)
#undef F
};
static struct { unsigned long calls, bytes; } counts[functions];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int inside;

static void write_counts(void) {
    const char* prefix = getenv("FAKE_NCCL_COUNTS");
    char path[4096];
    if (!prefix) return;
    snprintf(path, sizeof path, "%s.%d", prefix, (int)getpid());
    FILE* file = fopen(path, "w");
    if (!file) return;
    for (int i = 0; i < functions; ++i)
        if (counts[i].calls) fprintf(file, "%s %lu %lu\n", names[i], counts[i].calls, counts[i].bytes);
    fclose(file);
    write_told();
}
__attribute__((destructor)) static void at_exit(void) { write_counts(); }

static void count(int function, unsigned long bytes) {
    if (inside) return;
    pthread_mutex_lock(&lock);
    counts[function].calls += 1;
    counts[function].bytes += bytes;
    pthread_mutex_unlock(&lock);
}

static unsigned long size_of(int type) {
    switch (type) {
        case ncclInt32:
        case ncclFloat32:
            return 4;
        case ncclFloat16:
        case ncclBfloat16:
            return 2;
        case ncclFloat64:
            return 8;
        default:
            return 1;
    }
}
/* As the real one does of nonblocking communicators, by the name that a preload has. */
static void ask_for_errors(ncclComm_t comm) {
    int error;
    if (!comm->is_nonblocking) return;
    inside = 1;
    ncclCommGetAsyncError(comm, &error);
    inside = 0;
}
/* Of a call that is given a configuration NCCL tells as of the one that is not. */
static const char* told_as(const char* name) { return strcmp(name, "AllReduceConfig") == 0 ? "AllReduce" : name; }
static _Thread_local uint64_t tag_in_hand;
static int operation(int function, ncclComm_t comm, size_t n, int type, int blocks, cudaStream_t stream) {
    if (!comm || comm->magic != alive) return ncclInvalidArgument;
    ask_for_errors(comm);
    const unsigned long bytes = n * size_of(type) * (unsigned long)(blocks ? comm->size : 1);
    count(function, bytes);
    if (function != of_ncclBcast) {
        const struct task task = {
            comm, told_as(names[function] + 4), n, size_of(type), type, blocks, bytes, stream, NULL, tag_in_hand};
        launch_operation(task);
    }
    /* NCCL 2.23, which has the first version of the interface, says "success". */
    return comm->is_nonblocking && newest_profiler() > 1 ? ncclInProgress : ncclSuccess;
}
static ncclComm_t make(int size, int rank) {
    ncclComm_t comm = calloc(1, sizeof *comm);
    launch_find_gpu();
    comm->magic = alive;
    comm->size = size;
    comm->rank = rank;
    return comm;
}
static unsigned long hash_of(const void* bytes, size_t n) {
    unsigned long hash = 5381;
    for (size_t i = 0; i < n; ++i) hash = (hash * 33) ^ ((const unsigned char*)bytes)[i];
    return hash;
}

int pncclGetVersion(int* version) {
    *version = 22809;
    return 0;
}
int pncclGetUniqueId(ncclUniqueId* id) {
    memset(id, 0, sizeof *id);
    snprintf(id->internal, sizeof id->internal, "made by %d", (int)getpid());
    count(of_ncclGetUniqueId, 0);
    return 0;
}
/* Tests choose an id by its first byte; the last tells whether all of it arrived. */
/* NVML, as NCCL opens it: by itself, and never again closed. */
static void open_nvml(void) {
    void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    int (*const start)(void) = library ? (int (*)(void))dlsym(library, "nvmlInit_v2") : NULL;
    if (start) start();
}
static int init(int function, ncclComm_t* comm, int size, ncclUniqueId id, int rank) {
    if (rank < 0 || rank >= size) return ncclInvalidArgument;
    if (id.internal[0] == 'w' && id.internal[127] != 'z') return ncclInternalError;
    *comm = make(size, rank);
    (*comm)->hash = hash_of(&id, sizeof id);
    open_nvml();
    count(function, 0);
    return 0;
}
int pncclCommInitRank(ncclComm_t* comm, int size, ncclUniqueId id, int rank) {
    const int result = init(of_ncclCommInitRank, comm, size, id, rank);
    if (result == 0) tell_of_communicator(*comm);
    return result;
}
int pncclCommInitRankConfig(ncclComm_t* comm, int size, ncclUniqueId id, int rank, ncclConfig_t* config) {
    if (config && config->magic != 0xcafebeef) return ncclInvalidArgument;
    const int result = init(of_ncclCommInitRankConfig, comm, size, id, rank);
    if (result) return result;
    if (config && config->comm_name) snprintf((*comm)->name, sizeof(*comm)->name, "%s", config->comm_name);
    (*comm)->is_nonblocking = config && !config->blocking;
    tell_of_communicator(*comm);
    return (*comm)->is_nonblocking ? ncclInProgress : 0;
}
int pncclCommInitAll(ncclComm_t* comms, int n, const int* devices) {
    (void)devices;
    static unsigned long made;
    const unsigned long hash = ++made << 32 | (unsigned)getpid();
    launch_group_start();
    for (int i = 0; i < n; ++i) {
        comms[i] = make(n, i);
        comms[i]->hash = hash;
        tell_of_communicator(comms[i]);
    }
    launch_group_end();
    count(of_ncclCommInitAll, 0);
    return 0;
}
int pncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* made, ncclConfig_t* config) {
    (void)key, (void)config;
    if (!comm || comm->magic != alive) return ncclInvalidArgument;
    *made = color < 0 ? NULL : make(comm->size / 2, comm->rank / 2); /* by the parity of the rank */
    if (*made) {
        (*made)->hash = comm->hash * 31 + (unsigned)color;
        tell_of_communicator(*made);
    }
    count(of_ncclCommSplit, 0);
    return 0;
}
int pncclCommFinalize(ncclComm_t comm) {
    return comm->magic == alive ? count(of_ncclCommFinalize, 0), 0 : ncclInvalidArgument;
}
static int end(int function, ncclComm_t comm) {
    if (!comm || comm->magic != alive) return ncclInvalidArgument;
    tell_of_end(comm);
    comm->magic = dead; /* whoever asks a question of it now is found out */
    count(function, 0);
    write_counts();
    return 0;
}
int pncclCommDestroy(ncclComm_t comm) { return end(of_ncclCommDestroy, comm); }
int pncclCommAbort(ncclComm_t comm) { return end(of_ncclCommAbort, comm); }
static void must_be_alive(ncclComm_t comm) {
    if (comm && comm->magic == alive) return;
    fprintf(stderr, "fake NCCL: asked of a communicator that is none\n");
    abort();
}
/* The first answer of a nonblocking communicator is "in progress". */
static int question(int function, ncclComm_t comm, int* out, int answer) {
    must_be_alive(comm);
    if (function >= 0) count(function, 0);
    if (comm->is_nonblocking && comm->asked++ == 0) return ncclInProgress;
    *out = answer;
    return 0;
}
/* The profiler asks these two, so they are not counted here. */
int pncclCommCount(ncclComm_t comm, int* n) { return question(-1, comm, n, comm->size); }
int pncclCommUserRank(ncclComm_t comm, int* rank) { return question(-1, comm, rank, comm->rank); }
int pncclCommGetAsyncError(ncclComm_t comm, int* error) {
    must_be_alive(comm);
    *error = 0;
    count(of_ncclCommGetAsyncError, 0);
    return 0;
}
const char* ncclGetErrorString(int result) { return result ? "an error" : "no error"; }

int pncclAllReduce(const void* s, void* r, size_t n, int type, int op, ncclComm_t comm, cudaStream_t stream) {
    (void)s, (void)r, (void)op;
    return operation(of_ncclAllReduce, comm, n, type, 0, stream);
}
int pncclBroadcast(const void* s, void* r, size_t n, int type, int root, ncclComm_t comm, cudaStream_t stream) {
    (void)s, (void)r, (void)root;
    return operation(of_ncclBroadcast, comm, n, type, 0, stream);
}
int pncclBcast(void* buffer, size_t n, int type, int root, ncclComm_t comm, cudaStream_t stream) {
    const int result = operation(of_ncclBcast, comm, n, type, 0, stream);
    if (result) return result;
    inside = 1;
    const int inner = ncclBroadcast(buffer, buffer, n, type, root, comm, stream);
    inside = 0;
    return inner;
}
int pncclReduce(const void* s, void* r, size_t n, int type, int op, int root, ncclComm_t comm, cudaStream_t stream) {
    (void)s, (void)r, (void)op, (void)root;
    return operation(of_ncclReduce, comm, n, type, 0, stream);
}
int pncclAllGather(const void* s, void* r, size_t n, int type, ncclComm_t comm, cudaStream_t stream) {
    (void)s, (void)r;
    return operation(of_ncclAllGather, comm, n, type, 1, stream);
}
int pncclReduceScatter(const void* s, void* r, size_t n, int type, int op, ncclComm_t comm, cudaStream_t stream) {
    (void)s, (void)r, (void)op;
    return operation(of_ncclReduceScatter, comm, n, type, 1, stream);
}
int pncclAlltoAll(const void* s, void* r, size_t n, int type, ncclComm_t comm, cudaStream_t stream) {
    (void)s, (void)r;
    return operation(of_ncclAlltoAll, comm, n, type, 1, stream);
}
int pncclGather(const void* s, void* r, size_t n, int type, int root, ncclComm_t comm, cudaStream_t stream) {
    (void)s, (void)r, (void)root;
    return operation(of_ncclGather, comm, n, type, 1, stream);
}
int pncclScatter(const void* s, void* r, size_t n, int type, int root, ncclComm_t comm, cudaStream_t stream) {
    (void)s, (void)r, (void)root;
    return operation(of_ncclScatter, comm, n, type, 1, stream);
}
int pncclSend(const void* s, size_t n, int type, int peer, ncclComm_t comm, cudaStream_t stream) {
    (void)s, (void)peer;
    return operation(of_ncclSend, comm, n, type, 0, stream);
}
int pncclRecv(void* r, size_t n, int type, int peer, ncclComm_t comm, cudaStream_t stream) {
    (void)r, (void)peer;
    return operation(of_ncclRecv, comm, n, type, 0, stream);
}
int pncclGroupStart(void) {
    count(of_ncclGroupStart, 0);
    launch_group_start();
    return 0;
}
int pncclGroupEnd(void) {
    count(of_ncclGroupEnd, 0);
    launch_group_end();
    return 0;
}
#ifdef NEWER
/* One id for several ranks each: all of them have to arrive. */
int pncclCommInitRankScalable(ncclComm_t* comm, int size, int rank, int ids, ncclUniqueId* id, ncclConfig_t* config) {
    if (ids < 1 || id[ids - 1].internal[127] != 'z') return ncclInvalidArgument;
    const int result = init(of_ncclCommInitRankScalable, comm, size, id[0], rank);
    if (result) return result;
    (*comm)->hash = hash_of(id, sizeof *id * (size_t)ids);
    if (config && config->comm_name) snprintf((*comm)->name, sizeof(*comm)->name, "%s", config->comm_name);
    tell_of_communicator(*comm);
    return 0;
}
int pncclCommShrink(ncclComm_t comm, int* excluded, int n, ncclComm_t* made, ncclConfig_t* config, int flags) {
    (void)config, (void)flags;
    int below = 0;
    if (!comm || comm->magic != alive) return ncclInvalidArgument;
    for (int i = 0; i < n; ++i) below += excluded[i] < comm->rank;
    *made = make(comm->size - n, comm->rank - below);
    (*made)->hash = comm->hash * 37 + hash_of(excluded, sizeof *excluded * (size_t)n);
    tell_of_communicator(*made);
    count(of_ncclCommShrink, 0);
    return 0;
}
int pncclCommGrow(ncclComm_t comm, int size, const ncclUniqueId* id, int rank, ncclComm_t* made, ncclConfig_t* config) {
    (void)config;
    if (comm ? comm->magic != alive || rank != -1 : !id) return ncclInvalidArgument;
    *made = make(size, comm ? comm->rank : rank);
    (*made)->hash = 4711;
    tell_of_communicator(*made);
    count(of_ncclCommGrow, 0);
    return 0;
}
int pncclPutSignal(const void* s, size_t n, int type, int peer, void* window, size_t offset, int signal, int context,
                   unsigned flags, ncclComm_t comm, cudaStream_t stream) {
    (void)s, (void)peer, (void)window, (void)offset, (void)signal, (void)context, (void)flags;
    return operation(of_ncclPutSignal, comm, n, type, 0, stream);
}
int pncclSignal(int peer, int signal, int context, unsigned flags, ncclComm_t comm, cudaStream_t stream) {
    (void)peer, (void)signal, (void)context, (void)flags, (void)stream;
    must_be_alive(comm);
    count(of_ncclSignal, 0);
    return 0;
}
static int alltoallv(int function, const size_t* counts, int type, ncclComm_t comm, cudaStream_t stream) {
    size_t sum = 0;
    must_be_alive(comm);
    for (int i = 0; i < comm->size; ++i) sum += counts[i];
    return operation(function, comm, sum, type, 0, stream);
}
int pncclAlltoAllv(const void* s, const size_t* counts, const size_t* at, void* r, const size_t* rcounts,
                   const size_t* rat, int type, ncclComm_t comm, cudaStream_t stream) {
    (void)s, (void)at, (void)r, (void)rcounts, (void)rat;
    return alltoallv(of_ncclAlltoAllv, counts, type, comm, stream);
}
int pncclAllToAllv(const void* s, const size_t* counts, const size_t* at, void* r, const size_t* rcounts,
                   const size_t* rat, int type, ncclComm_t comm, cudaStream_t stream) {
    (void)s, (void)at, (void)r, (void)rcounts, (void)rat;
    return alltoallv(of_ncclAllToAllv, counts, type, comm, stream);
}
int pncclAllReduceWithBias(const void* s, void* r, size_t n, int type, int op, ncclComm_t comm, cudaStream_t stream,
                           const void* bias) {
    (void)s, (void)r, (void)op;
    return bias ? operation(of_ncclAllReduceWithBias, comm, n, type, 0, stream) : ncclInvalidArgument;
}
int pncclAllReduceConfig(const void* s, void* r, size_t n, int type, int op, ncclComm_t comm, cudaStream_t stream,
                         const ncclCollConfig_t* config) {
    (void)s, (void)r, (void)op;
    tag_in_hand = config ? config->userProfilerTag : 0;
    const int result = operation(of_ncclAllReduceConfig, comm, n, type, 0, stream);
    tag_in_hand = 0;
    return result;
}
int pncclWaitSignal(int n, void* signals, ncclComm_t comm, cudaStream_t stream) {
    (void)n, (void)signals, (void)stream;
    must_be_alive(comm);
    count(of_ncclWaitSignal, 0);
    return 0;
}
#endif
int pncclMemAlloc(void** p, size_t n) {
    *p = malloc(n);
    count(of_ncclMemAlloc, 0);
    return 0;
}
int pncclMemFree(void* p) {
    free(p);
    count(of_ncclMemFree, 0);
    return 0;
}
