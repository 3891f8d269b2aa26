/* A program that uses NCCL on GPUs that are doubles: program SCENE. Linked with the double of NCCL or, compiled with
 * FETCH, by dlopen and dlsym. Every time that a scene takes on the GPU follows from the rules of the doubles: see
 * fake_cuda.c, launches.h. */
#define _GNU_SOURCE
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include "tests/gpu/doubles/cuda.h"
#include "tests/gpu/doubles/cupti.h"
#include "tests/nccl/linked_or_fetched.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define F(name, arguments) int name arguments;
CUDA_FUNCTIONS(F)
#undef F
#ifdef HIP /* whose double has the functions above, too */
int hipGetLastError(void), hipPeekAtLastError(void);
void fake_hip_fail(void);
#endif
#ifdef WITH_CUPTI /* another client of it, such as PyTorch's profiler: linked, or by dlsym as TensorFlow does */
#ifdef FETCH
#define F(name, arguments) static int(*f_##name) arguments;
CUPTI_FUNCTIONS(F)
#undef F
#define CUPTI(name) f_##name
static void fetch_cupti(void) {
    void* library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
#define F(name, arguments) f_##name = (int(*) arguments)dlsym(library, #name);
    CUPTI_FUNCTIONS(F)
#undef F
}
#else
#define F(name, arguments) int name arguments;
CUPTI_FUNCTIONS(F)
#undef F
#define CUPTI(name) name
static void fetch_cupti(void) {}
#endif
static int their_kernels, their_buffers;
static uint64_t their_time; /* of all their kernels */
static void their_request(uint8_t** at, size_t* bytes, size_t* most) {
    *bytes = 1 << 16;
    *at = aligned_alloc(8, *bytes);
    *most = 0;
}
static void their_completion(void* context, uint32_t stream, uint8_t* at, size_t bytes, size_t valid) {
    (void)context, (void)stream, (void)bytes;
    uint8_t* record = NULL;
    while (CUPTI(cuptiActivityGetNextRecord)(at, valid, &record) == CUPTI_OK) {
        const struct kernel_record* kernel = (struct kernel_record*)record;
        if (kernel->kind != KIND_CONCURRENT_KERNEL) continue;
        their_kernels += 1;
        their_time += kernel->end - kernel->start;
    }
    their_buffers += 1;
    free(at); /* as Kineto does: whoever made it */
}
#endif

static int number(const char* name, int otherwise) { return getenv(name) ? atoi(getenv(name)) : otherwise; }
static void must(int result, const char* what) {
    if (result == 0) return;
    fprintf(stderr, "%s is %d\n", what, result);
    exit(1);
}
#define OK(call) must(call, #call)

static char buffer[64];
static int rank, size;

static ncclComm_t world(const char* name) {
    ncclUniqueId id;
    ncclComm_t comm = NULL;
    memset(&id, 0, sizeof id);
    snprintf(id.internal, sizeof id.internal, "w:%s", name);
    id.internal[127] = 'z';
    OK(NCCL(ncclCommInitRank)(&comm, size, id, rank));
    return comm;
}
static CUstream stream_on(int device) {
    CUcontext context;
    CUstream stream;
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    OK(cuStreamCreate(&stream, 0));
    return stream;
}
/* 3000 ns on the GPU, 500 more from call to kernel where the stream is idle. */
static void reduce(ncclComm_t c, CUstream s) {
    OK(NCCL(ncclAllReduce)(buffer, buffer, 1000, ncclFloat32, ncclSum, c, s));
}
static void finish(CUstream s) { OK(cuStreamSynchronize(s)); }

#include "tests/gpu/scenes.h"

typedef int Scene(ncclComm_t, CUstream);
static const struct {
    const char* name;
    Scene* play;
} scenes[] = {
#ifdef WITH_CUPTI
    {"early", scene_early},
#endif
    {"lone", scene_lone},
#ifdef WITH_MPI
    {"mpi_first", scene_mpi_first},
    {"mpi", scene_mpi},
#endif
    {"groups", scene_groups},
    {"empty", scene_empty},
    {"gpus", scene_gpus},
    {"elsewhere", scene_elsewhere},
    {"threads", scene_threads},
    {"nonblocking", scene_nonblocking},
    {"captured", scene_captured},
    {"pending", scene_pending},
    {"gone", scene_gone},
    {"numbers", scene_numbers},
#ifdef HIP
    {"unread", scene_unread},
#endif
    {"failing", scene_failing},
    {"broken", scene_broken},
    {"errors", scene_errors},
    {"bare", scene_bare},
    {"reset", scene_reset},
    {"many", scene_many},
    {"unfinished", scene_unfinished},
    {"overlap", scene_overlap},
#ifdef WITH_CUPTI
    {"profiler", scene_profiler},
    {"ticks", scene_ticks},
    {"first", scene_first},
#endif
#ifdef FETCH
    {"absent", scene_absent},
#endif
    {"window", scene_window},
    {"tail", scene_tail},
    {"paced", scene_paced},
    {"killed_slowly", scene_killed_slowly},
    {"killed_later", scene_killed_later},
    {"killed", scene_killed},
    {"fork", scene_fork},
};

/* CUDA's runtime has threads of its own. */
static void* idle(void* nothing) {
    for (;;) pause();
    return nothing;
}

int main(int argc, char** argv) {
    const char* scene = argc > 1 ? argv[1] : "lone";
    rank = number("RANK", 0);
    size = number("WORLD_SIZE", 2);
    pthread_t other_thread;
    if (pthread_create(&other_thread, NULL, idle, NULL) != 0) return 2;
    fetch();
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#endif
#ifdef WITH_CUPTI
    if (strcmp(scene, "early") == 0) begin_early();
#endif
    ncclComm_t c = world("world");
    CUstream s = stream_on(0);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; ++i)
        if (strcmp(scene, scenes[i].name) == 0) return scenes[i].play(c, s);
    fprintf(stderr, "no scene %s\n", scene);
    return 2;
}
