/* A profiler plugin of somebody else's, with NCCL's interface of one version ($VERSION when it is compiled) and strict:
 * every handle that it is given is one that it gave out or none, a parent began before what lies inside of it, and what
 * it did not ask for is nothing inside of what it asked for. It writes what it was told, "type begun ended", to
 * $OTHER_PLUGIN_TOLD.<pid> when its last communicator ends, and "wrong: ..." where it was told something else. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { most = 100000, kinds = 16, magic = 0x0bad5eed };
struct event {
    int magic, kind, is_ended;
};
struct context {
    int magic, rank;
};
static struct event events[most];
static struct context contexts[64];
static int used, users, n_contexts, mask_wanted;
static unsigned long begun[kinds], ended[kinds], states;
static char wrong[200];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int is_mine(const void* handle) {
    const struct event* event = handle;
    return event >= events && event < events + used && event->magic == magic;
}
static void expect(int is, const char* what) {
    if (!is && !wrong[0]) snprintf(wrong, sizeof wrong, "wrong: %s\n", what);
}
static int kind_of(uint64_t type) {
    int kind = 0;
    while (kind < kinds - 1 && type >> (kind + 1)) ++kind;
    return kind;
}
static int begin(void** context, int* mask, int rank) {
    const char* wanted = getenv("OTHER_PLUGIN_MASK");
    if (getenv("OTHER_PLUGIN_REFUSES")) return 3;
    pthread_mutex_lock(&lock);
    contexts[n_contexts].magic = magic;
    contexts[n_contexts].rank = rank;
    *context = &contexts[n_contexts++];
    ++users;
    *mask = mask_wanted = wanted ? atoi(wanted) : 1 | 2 | 4 | 8 | 16;
    pthread_mutex_unlock(&lock);
    return 0;
}
#if VERSION >= 5
static int init(void** context, uint64_t id, int* mask, const char* name, int nodes, int size, int rank, void* log) {
    (void)id, (void)name, (void)nodes, (void)size, (void)log;
    return begin(context, mask, rank);
}
#elif VERSION == 4
static int init(void** context, int* mask, const char* name, uint64_t id, int nodes, int size, int rank, void* log) {
    (void)id, (void)name, (void)nodes, (void)size, (void)log;
    return begin(context, mask, rank);
}
#else
static int init(void** context, int* mask) { return begin(context, mask, -1); }
#endif
struct told {
#if VERSION >= 5
    uint64_t type;
#else
    uint8_t type;
#endif
    void* parent;
    int rank;
};
static int start(void* context, void** handle, struct told* told) {
    pthread_mutex_lock(&lock);
    const int kind = kind_of(told->type);
    expect(((struct context*)context)->magic == magic, "a context of somebody else's");
    expect(!told->parent || is_mine(told->parent), "a parent of somebody else's");
    if (used == most) abort();
    events[used].magic = magic;
    events[used].kind = kind;
    *handle = &events[used++];
    ++begun[kind];
    pthread_mutex_unlock(&lock);
    return 0;
}
static int stop(void* handle) {
    pthread_mutex_lock(&lock);
    struct event* event = handle;
    expect(is_mine(handle), "the end of an event of somebody else's");
    if (is_mine(handle)) {
        expect(!event->is_ended, "an event ends twice");
        event->is_ended = 1;
        ++ended[event->kind];
    }
    pthread_mutex_unlock(&lock);
    return 0;
}
static int state(void* handle, int what, void* arguments) {
    (void)what, (void)arguments;
    pthread_mutex_lock(&lock);
    expect(is_mine(handle), "a state of an event of somebody else's");
    ++states;
    pthread_mutex_unlock(&lock);
    return 0;
}
static int finalize(void* context) {
    char path[4096];
    pthread_mutex_lock(&lock);
    expect(((struct context*)context)->magic == magic, "the end of a context of somebody else's");
    if (--users == 0 && getenv("OTHER_PLUGIN_TOLD")) {
        snprintf(path, sizeof path, "%s.%d", getenv("OTHER_PLUGIN_TOLD"), (int)getpid());
        FILE* file = fopen(path, "w");
        for (int i = 0; i < kinds; ++i)
            if (begun[i]) fprintf(file, "%d %lu %lu\n", i, begun[i], ended[i]);
        fputs(wrong, file);
        fclose(file);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}
#define NAMED(version) ncclProfiler_v##version
#define TABLE(version) NAMED(version)
const struct {
    const char* name;
    void *init, *start, *stop, *state, *finalize;
} TABLE(VERSION) = {"other", init, start, stop, state, finalize};
