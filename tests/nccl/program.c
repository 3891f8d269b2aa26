/* A program that uses NCCL, in one of several ways: program SCENE. Linked with the double, or, compiled with FETCH, by
 * dlopen and dlsym as JAX and ctypes do; compiled with WITH_MPI it is an MPI program, too. */
#define _GNU_SOURCE
#include "tests/nccl/linked_or_fetched.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

/* What this NCCL lacks is answered as if nobody were there. */
static void begin(void) {
    void* library = fetch();
    if (!library || getenv("WITHOUT_HOOK")) return;
#ifdef NEWER
    return;
#endif
    if (dlsym(library, "ncclCommShrink") || dlsym(RTLD_DEFAULT, "ncclCommShrink")) {
        fprintf(stderr, "CommShrink exists\n");
        exit(2);
    }
}

static int number(const char* name, int otherwise) { return getenv(name) ? atoi(getenv(name)) : otherwise; }
static void must(int ok, const char* what) {
    if (ok) return;
    fprintf(stderr, "%s went wrong\n", what);
    exit(1);
}
#define OK(call) must((call) == 0, #call)

static ncclUniqueId id_of(const char* name) { /* as if rank 0 had sent it to all */
    ncclUniqueId id;
    memset(&id, 0, sizeof id);
    snprintf(id.internal, sizeof id.internal, "w:%s", name);
    id.internal[127] = 'z';
    return id;
}
static ncclComm_t world(int size, int rank) {
    ncclComm_t comm = NULL;
    OK(NCCL(ncclCommInitRank)(&comm, size, id_of("world"), rank));
    return comm;
}

static char buffer[64];

static void every_operation(ncclComm_t c) {
    cudaStream_t s = NULL;
    for (int i = 0; i < 5; ++i) OK(NCCL(ncclAllReduce)(buffer, buffer, 1000, ncclFloat32, ncclSum, c, s));
    for (int i = 0; i < 4; ++i)
        OK(NCCL(ncclAllReduce)(buffer, buffer, (size_t)1 << (10 * i), ncclBfloat16, ncclSum, c, s));
    OK(NCCL(ncclAllReduce)(buffer, buffer, (size_t)3 << 30, ncclFloat64, ncclSum, c, s)); /* 24 GiB */
    OK(NCCL(ncclAllReduce)(buffer, buffer, 0, ncclFloat32, ncclSum, c, s));
    for (int i = 0; i < 2; ++i) OK(NCCL(ncclAllReduce)(buffer, buffer, 7777, ncclUint8, ncclSum, c, s));
    OK(NCCL(ncclBroadcast)(buffer, buffer, 300, ncclInt32, 0, c, s));
    for (int i = 0; i < 3; ++i) OK(NCCL(ncclBcast)(buffer, 70, ncclInt8, 0, c, s));
    OK(NCCL(ncclReduce)(buffer, buffer, 50, ncclFloat16, ncclSum, 0, c, s));
    for (int i = 0; i < 6; ++i) OK(NCCL(ncclAllGather)(buffer, buffer, 128 + 1000 * i, ncclFloat32, c, s));
    for (int i = 0; i < 2; ++i) OK(NCCL(ncclReduceScatter)(buffer, buffer, 64, ncclFloat8e4m3, ncclSum, c, s));
    OK(NCCL(ncclAlltoAll)(buffer, buffer, 11, ncclFloat64, c, s));
    OK(NCCL(ncclGather)(buffer, buffer, 13, ncclFloat64, 0, c, s));
    OK(NCCL(ncclScatter)(buffer, buffer, 17, ncclFloat64, 0, c, s));
    OK(NCCL(ncclGroupStart)());
    OK(NCCL(ncclGroupStart)());
    for (int i = 0; i < 3; ++i) OK(NCCL(ncclSend)(buffer, 1 << 20, ncclFloat32, i, c, s));
    OK(NCCL(ncclGroupEnd)());
    for (int i = 0; i < 2; ++i) OK(NCCL(ncclRecv)(buffer, 1 << 20, ncclFloat32, i, c, s));
    OK(NCCL(ncclGroupEnd)());
    int error = 1;
    for (int i = 0; i < 7; ++i) OK(NCCL(ncclCommGetAsyncError)(c, &error));
}

static void* work(void* comm) {
    for (int i = 0; i < 100; ++i) OK(NCCL(ncclAllReduce)(buffer, buffer, 256, ncclFloat32, ncclSum, comm, NULL));
    return NULL;
}

#ifdef WITH_MPI
/* The first communicator of all comes after MPI's end. */
static int only_after_mpi(int mpi_rank, int mpi_size) {
    MPI_Finalize();
    ncclComm_t later = world(mpi_size, mpi_rank);
    OK(NCCL(ncclReduce)(buffer, buffer, 10, ncclFloat32, ncclSum, 0, later, NULL));
    OK(NCCL(ncclCommDestroy)(later));
    return 0;
}
/* As frameworks end: NCCL goes on, and MPI is asked only what it may be. */
static int after_finalize(ncclComm_t of_all, int mpi_rank, int mpi_size) {
    int flag = 0, version = 0, subversion = 0;
    MPI_Finalize();
    for (int i = 0; i < 50; ++i) {
        MPI_Finalized(&flag);
        MPI_Get_version(&version, &subversion);
        OK(NCCL(ncclAllReduce)(buffer, buffer, 1000, ncclFloat32, ncclSum, of_all, NULL));
    }
    ncclComm_t later = world(mpi_size, mpi_rank);
    OK(NCCL(ncclBroadcast)(buffer, buffer, 10, ncclFloat32, 0, later, NULL));
    OK(NCCL(ncclCommDestroy)(later));
    OK(NCCL(ncclCommDestroy)(of_all));
    if (number("KILLED", 0)) usleep(500000), raise(SIGKILL); /* the launcher ends the others with the first */
    return flag && version ? 0 : 1;
}

static int beside_mpi(const char* scene, int rank, int argc, char** argv) {
    int mpi_rank = 0, mpi_size = 1;
    ncclComm_t early = NULL;
    if (strcmp(scene, "nccl_first") == 0) {
        early = world(1, 0);
        OK(NCCL(ncclAllReduce)(buffer, buffer, 10, ncclFloat32, ncclSum, early, NULL));
    }
    if (strcmp(scene, "nccl_then_mpi") == 0) {
        early = world(number("WORLD_SIZE", 1), rank);
        OK(NCCL(ncclAllReduce)(buffer, buffer, 10, ncclFloat32, ncclSum, early, NULL));
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &mpi_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mpi_size);
    MPI_Barrier(MPI_COMM_WORLD);
    ncclComm_t of_all = NULL;
    if (strcmp(scene, "nccl_then_mpi") == 0) return MPI_Finalize(); /* no communicator behind MPI_Init */
    if (strcmp(scene, "worlds_of_one") == 0) mpi_rank = rank, mpi_size = number("WORLD_SIZE", 1);
    if (strcmp(scene, "only_after") == 0) return only_after_mpi(mpi_rank, mpi_size);
    of_all = world(mpi_size, mpi_rank);
    for (int i = 0; i < 3; ++i) {
        int sum = 0;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        OK(NCCL(ncclAllReduce)(buffer, buffer, 1000, ncclFloat32, ncclSum, of_all, NULL));
    }
    if (early) OK(NCCL(ncclCommDestroy)(early));
    if (strcmp(scene, "bcast") == 0) OK(NCCL(ncclBcast)(buffer, 70, ncclInt8, 0, of_all, NULL));
    if (strcmp(scene, "after_finalize") == 0) return after_finalize(of_all, mpi_rank, mpi_size);
    OK(NCCL(ncclCommDestroy)(of_all));
    MPI_Finalize();
    return 0;
}
#else

static int scene_probe(int rank, int size, char** argv) {
    (void)rank, (void)size, (void)argv;
    int version = 0;
    ncclUniqueId id;
    OK(NCCL(ncclGetVersion)(&version));
    OK(NCCL(ncclGetUniqueId)(&id));
    return 0;
}
/* A communicator, and nothing else. */
static int scene_silent(int rank, int size, char** argv) {
    (void)rank, (void)size, (void)argv;
    ncclComm_t c = world(1, 0);
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
static int scene_every(int rank, int size, char** argv) {
    (void)argv;
    ncclComm_t c = world(size, rank);
    every_operation(c);
    OK(NCCL(ncclCommFinalize)(c));
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
static int scene_split(int rank, int size, char** argv) {
    (void)argv;
    ncclComm_t c = world(size, rank), half = NULL, none = NULL;
    OK(NCCL(ncclCommSplit)(c, -1, 0, &none, NULL));
    OK(NCCL(ncclCommSplit)(c, rank % 2, rank, &half, NULL));
    OK(NCCL(ncclAllGather)(buffer, buffer, 100, ncclFloat32, half, NULL));
    OK(NCCL(ncclAllReduce)(buffer, buffer, 10, ncclFloat32, ncclSum, c, NULL));
    OK(NCCL(ncclCommDestroy)(half));
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
#ifdef NEWER
/* The last rank is left behind, and comes back. */
static int scene_newer(int rank, int size, char** argv) {
    (void)argv;
    ncclUniqueId ids[2] = {id_of("first half"), id_of("second half")};
    ncclConfig_t config = {sizeof config, 0xcafebeef, 22809, 1, 0, 0, 0, NULL, 0, 0, "data parallel"};
    ncclComm_t c = NULL, fewer = NULL, all = NULL, again = NULL;
    int last = size - 1;
    OK(NCCL(ncclCommInitRankScalable)(&c, size, rank, 2, ids, &config));
    if (rank != last) {
        OK(NCCL(ncclCommShrink)(c, &last, 1, &fewer, NULL, 0));
        OK(NCCL(ncclAllGather)(buffer, buffer, 100, ncclFloat32, fewer, NULL));
        OK(NCCL(ncclCommDestroy)(fewer));
    }
    OK(NCCL(ncclCommSplit)(c, 0, rank, &all, NULL)); /* of those who made one from it before, and of one who did not */
    OK(NCCL(ncclAllReduce)(buffer, buffer, 10, ncclFloat32, ncclSum, all, NULL));
    OK(NCCL(ncclCommGrow)(rank == last ? NULL : c, size, rank == last ? ids : NULL, rank == last ? rank : -1, &again,
                          NULL));
    OK(NCCL(ncclReduce)(buffer, buffer, 10, ncclFloat32, ncclSum, 0, again, NULL));
    for (int i = 0; i < 3; ++i) OK(NCCL(ncclPutSignal)(buffer, 500, ncclFloat64, 0, buffer, 0, 0, 0, 0, c, NULL));
    for (int i = 0; i < 2; ++i) OK(NCCL(ncclSignal)(0, 0, 0, 0, c, NULL));
    OK(NCCL(ncclWaitSignal)(1, buffer, c, NULL));
    /* RCCL's, whose counts differ from rank to rank. */
    const size_t counts[3] = {(size_t)rank, 20, 300}, at[3] = {0, 0, 0};
    for (int i = 0; i < 2; ++i) OK(NCCL(ncclAlltoAllv)(buffer, counts, at, buffer, counts, at, ncclFloat32, c, NULL));
    OK(NCCL(ncclAllToAllv)(buffer, counts, at, buffer, counts, at, ncclFloat64, c, NULL));
    OK(NCCL(ncclAllReduceWithBias)(buffer, buffer, 1000, ncclFloat32, ncclSum, c, NULL, buffer));
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
static void reduce_with_tag(ncclComm_t c, uint64_t tag, int times) {
    const ncclCollConfig_t config = {.size = sizeof config, .userProfilerTag = tag};
    for (int i = 0; i < times; ++i)
        OK(NCCL(ncclAllReduceConfig)(buffer, buffer, 1000, ncclFloat32, ncclSum, c, NULL, tag ? &config : NULL));
}
/* Two that last, one of NCCL's own, and one for each step. */
static int scene_tagged(int rank, int size, char** argv) {
    (void)argv;
    ncclComm_t c = world(size, rank);
    reduce_with_tag(c, 7, 3);
    reduce_with_tag(c, 0, 2);
    reduce_with_tag(c, 41, 4);
    reduce_with_tag(c, 7, 3);
    reduce_with_tag(c, 1ull << 63 | 5, 1);
    for (uint64_t step = 1; argv[2] && step <= 1000; ++step) reduce_with_tag(c, step << 20, 1);
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
#endif
static int scene_threads(int rank, int size, char** argv) {
    (void)rank, (void)size, (void)argv;
    pthread_t threads[4];
    ncclComm_t comms[4];
    OK(NCCL(ncclCommInitAll)(comms, 4, NULL));
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, comms[i]);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; ++i) OK(NCCL(ncclCommDestroy)(comms[i]));
    return 0;
}
/* This process is two of the ranks of the communicator. */
static int scene_gpus(int rank, int size, char** argv) {
    (void)rank, (void)size, (void)argv;
    const int node = number("NODE", 0);
    ncclComm_t comms[2];
    OK(NCCL(ncclGroupStart)());
    for (int i = 0; i < 2; ++i) OK(NCCL(ncclCommInitRank)(&comms[i], 4, id_of("gpus"), 2 * node + i));
    OK(NCCL(ncclGroupEnd)());
    OK(NCCL(ncclGroupStart)());
    for (int i = 0; i < 2; ++i) OK(NCCL(ncclAllReduce)(buffer, buffer, 10, ncclFloat32, ncclSum, comms[i], NULL));
    OK(NCCL(ncclGroupEnd)());
    for (int i = 0; i < 2; ++i) OK(NCCL(ncclCommDestroy)(comms[i]));
    return 0;
}
static int scene_nonblocking(int rank, int size, char** argv) {
    (void)argv;
    ncclConfig_t config = {sizeof config, 0xcafebeef, 22809, 0, 0, 0, 0, NULL, 0, 0, "tensor parallel"};
    ncclComm_t c = NULL;
    must(NCCL(ncclCommInitRankConfig)(&c, size, id_of("world"), rank, &config) == ncclInProgress, "nonblocking init");
    for (int i = 0; i < 5; ++i)
        must(NCCL(ncclAllGather)(buffer, buffer, 100, ncclFloat32, c, NULL) % ncclInProgress == 0,
             "nonblocking AllGather");
    OK(NCCL(ncclCommAbort)(c));
    return 0;
}
static int scene_errors(int rank, int size, char** argv) {
    (void)rank, (void)size, (void)argv;
    ncclComm_t c = world(1, 0);
    OK(NCCL(ncclAllReduce)(buffer, buffer, 10, ncclFloat32, ncclSum, c, NULL));
    for (int i = 0; i < 2; ++i)
        must(NCCL(ncclAllReduce)(buffer, buffer, 10, ncclFloat32, ncclSum, NULL, NULL) == ncclInvalidArgument,
             "a wrong call");
    must(NCCL(ncclCommDestroy)(NULL) == ncclInvalidArgument, "a wrong call");
    return 0;
}
/* As a data loader's workers, and one that dares to call. */
static int scene_fork(int rank, int size, char** argv) {
    (void)rank, (void)size, (void)argv;
    ncclComm_t c = world(1, 0);
    OK(NCCL(ncclAllReduce)(buffer, buffer, 10, ncclFloat32, ncclSum, c, NULL));
    for (int i = 0; i < 3; ++i)
        if (fork() == 0) {
            unsetenv("FAKE_NCCL_COUNTS");
            if (i == 1) OK(NCCL(ncclAllReduce)(buffer, buffer, 10, ncclFloat32, ncclSum, c, NULL));
            if (i == 2) execlp("sh", "sh", "-c", "true", (char*)NULL);
            exit(0);
        }
    while (wait(NULL) > 0) {
    }
    OK(NCCL(ncclAllReduce)(buffer, buffer, 10, ncclFloat32, ncclSum, c, NULL));
    return 0;
}
static int scene_killed(int rank, int size, char** argv) {
    (void)argv;
    ncclComm_t c = world(size, rank);
    for (int i = 0; i < 50; ++i) OK(NCCL(ncclAllReduce)(buffer, buffer, 1000, ncclFloat32, ncclSum, c, NULL));
    if (rank == size - 1) raise(SIGKILL);
    _exit(0);
}
/* Who it is, a script may say after the first call. */
static int scene_late(int rank, int size, char** argv) {
    (void)rank, (void)size, (void)argv;
    ncclComm_t c = world(2, number("LATE_RANK", 0));
    OK(NCCL(ncclAllReduce)(buffer, buffer, 10, ncclFloat32, ncclSum, c, NULL));
    setenv("MASTER_ADDR", "localhost", 1);
    setenv("RANK", getenv("LATE_WORLD_RANK"), 1);
    setenv("WORLD_SIZE", "4", 1);
    return 0;
}
/* A communicator from before the window. */
static int scene_window(int rank, int size, char** argv) {
    (void)argv;
    ncclComm_t c = world(size, rank);
    usleep(900000);
    for (int i = 0; i < 5; ++i) OK(NCCL(ncclAllGather)(buffer, buffer, 100, ncclFloat32, c, NULL));
    return 0;
}
/* What a child finds in its environment. */
static int scene_child(int rank, int size, char** argv) {
    (void)rank, (void)size, (void)argv;
    ncclComm_t c = world(1, 0);
    fflush(NULL);
    OK(system("echo $NCCL_PROFILER_PLUGIN"));
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
/* The same of a program that only looks. */
static int scene_looker(int rank, int size, char** argv) {
    (void)rank, (void)size, (void)argv;
    int version = 0;
    OK(NCCL(ncclGetVersion)(&version));
    return system("echo $NCCL_PROFILER_PLUGIN");
}
static int scene_bcasts(int rank, int size, char** argv) {
    (void)argv;
    ncclComm_t c = world(size, rank);
    for (int i = 0; i < 3; ++i) OK(NCCL(ncclBcast)(buffer, 70, ncclInt8, 0, c, NULL));
    OK(NCCL(ncclGroupStart)());
    for (int i = 0; i < 4; ++i) OK(NCCL(ncclBcast)(buffer, 700, ncclInt8, 0, c, NULL));
    OK(NCCL(ncclAllReduce)(buffer, buffer, 10, ncclFloat32, ncclSum, c, NULL));
    OK(NCCL(ncclGroupEnd)());
    OK(NCCL(ncclBroadcast)(buffer, buffer, 40, ncclInt8, 0, c, NULL));
    return 0;
}
/* All on a nonblocking communicator, whose operations NCCL asks for errors itself. */
static int scene_unblocked(int rank, int size, char** argv) {
    (void)argv;
    ncclConfig_t config;
    memset(&config, 0, sizeof config);
    config.size = sizeof config, config.magic = 0xcafebeef;
    ncclComm_t c;
    const int made = NCCL(ncclCommInitRankConfig)(&c, size, id_of("world"), rank, &config);
    must(made == ncclInProgress, "ncclCommInitRankConfig");
    for (int i = 0; i < 10; ++i) NCCL(ncclAllReduce)(buffer, buffer, 1000, ncclFloat32, ncclSum, c, NULL);
    for (int i = 0; i < 3; ++i) NCCL(ncclBcast)(buffer, 70, ncclInt8, 0, c, NULL);
    return 0;
}
#include "tests/nccl/scenes.h"

typedef int Scene(int rank, int size, char** argv);
static const struct {
    const char* name;
    Scene* play;
} scenes[] = {
    {"probe", scene_probe},     {"silent", scene_silent}, {"every", scene_every},
    {"split", scene_split},
#ifdef NEWER
    {"newer", scene_newer},     {"tagged", scene_tagged},
#endif
    {"threads", scene_threads}, {"gpus", scene_gpus},     {"nonblocking", scene_nonblocking},
    {"errors", scene_errors},   {"fork", scene_fork},     {"killed", scene_killed},
    {"late", scene_late},       {"window", scene_window}, {"child", scene_child},
    {"looker", scene_looker},   {"bcasts", scene_bcasts}, {"unblocked", scene_unblocked},
    {"replays", scene_replays}, {"ids", scene_ids},       {"two", scene_two},
};
#endif

/* CUDA's runtime has threads of its own. */
static void* idle(void* nothing) {
    for (;;) pause();
    return nothing;
}

int main(int argc, char** argv) {
    const char* scene = argc > 1 ? argv[1] : "every";
    const int rank = number("RANK", 0), size = number("WORLD_SIZE", 1);
    pthread_t other_thread;
    if (pthread_create(&other_thread, NULL, idle, NULL) != 0) return 2;
    if (strcmp(scene, "two") != 0) begin();
#ifdef WITH_MPI
    (void)size;
    return beside_mpi(scene, rank, argc, argv);
#else
    (void)argc;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; ++i)
        if (strcmp(scene, scenes[i].name) == 0) return scenes[i].play(rank, size, argv);
    fprintf(stderr, "no scene %s\n", scene);
    return 2;
#endif
}
