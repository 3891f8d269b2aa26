/* Two processes that use a real libnccl.so.2, whose kernels have no code, on a CUDA that is a double: real_nccl SCENE
 * ID_FILE [BLOCKS]. What a kernel takes is scripted by FAKE_CUDA_LAUNCHES, so every time on the GPU is known. Started
 * by tests/e2e/cases/real_nccl.py; compiled with the nccl.h of that NCCL. */
#define _GNU_SOURCE
#include "tests/gpu/doubles/driver_for_nccl.h"

#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define F(name, arguments) int name arguments;
CUDA_FUNCTIONS(F)
#undef F

static int rank, size, blocks = 10;
static ncclUniqueId id;
static char *in, *out;

static void must(int result, const char* what) {
    if (result == 0) return;
    fprintf(stderr, "%s is %d\n", what, result);
    exit(1);
}
#define OK(call) must((int)(call), #call)

/* Rank 0 makes the id and leaves it in the file. */
static void share_id(const char* path) {
    char part[4096];
    snprintf(part, sizeof part, "%s.part", path);
    if (rank == 0) {
        OK(ncclGetUniqueId(&id));
        FILE* file = fopen(part, "wb");
        if (!file || fwrite(&id, sizeof id, 1, file) != 1 || fclose(file) != 0 || rename(part, path) != 0) OK(-1);
        return;
    }
    FILE* file;
    while (!(file = fopen(path, "rb"))) usleep(1000);
    if (fread(&id, sizeof id, 1, file) != 1) OK(-1);
    fclose(file);
}
static CUstream stream(void) {
    CUstream s;
    OK(cudaStreamCreateWithFlags(&s, 1));
    return s;
}
/* A nonblocking communicator is not done when the call returns. */
static void wait_for(ncclComm_t c) {
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress) {
        OK(ncclCommGetAsyncError(c, &state));
        usleep(50);
    }
    OK(state);
}
static ncclComm_t world(void) {
    ncclComm_t c = NULL;
    OK(ncclCommInitRank(&c, size, id, rank));
    return c;
}
static void reduce(ncclComm_t c, CUstream s, size_t n) { OK(ncclAllReduce(in, out, n, ncclFloat32, ncclSum, c, s)); }
static void end(ncclComm_t c, CUstream s) {
    OK(cudaStreamSynchronize(s));
    OK(ncclCommDestroy(c));
}

/* Twenty of each on an idle stream, the first use of each included. */
static int scene_calls(void) {
    ncclComm_t c = world();
    CUstream s = stream();
    for (int i = 0; i < 20; ++i) {
        reduce(c, s, 1 << 18);
        OK(cudaStreamSynchronize(s));
        OK(ncclAllGather(in, out, 1 << 16, ncclFloat16, c, s));
        OK(cudaStreamSynchronize(s));
        OK(ncclReduceScatter(in, out, 1 << 16, ncclFloat32, ncclSum, c, s));
        OK(cudaStreamSynchronize(s));
        OK(ncclBroadcast(in, out, 1000, ncclUint8, 0, c, s));
        OK(cudaStreamSynchronize(s));
        OK(ncclReduce(in, out, 500, ncclInt64, ncclSum, 1, c, s));
        OK(cudaStreamSynchronize(s));
    }
    end(c, s);
    return 0;
}
/* One of each, for a recording of what NCCL tells: bytes of no name, a group of each kind, a second communicator. */
static int scene_few(void) {
    ncclComm_t c = world(), all = NULL;
    CUstream s = stream();
    reduce(c, s, 1 << 18);
    OK(ncclAllGather(in, out, 1 << 16, ncclFloat16, c, s));
    OK(ncclReduceScatter(in, out, 1 << 16, ncclFloat32, ncclSum, c, s));
    OK(ncclBroadcast(in, out, 1000, ncclUint8, 0, c, s));
    OK(ncclReduce(in, out, 500, ncclInt64, ncclSum, 1, c, s));
    OK(ncclGroupStart());
    for (int peer = 0; peer < size; ++peer) {
        OK(ncclSend(in, 1024, ncclFloat32, peer, c, s));
        OK(ncclRecv(out, 1024, ncclFloat32, peer, c, s));
    }
    OK(ncclGroupEnd());
    OK(ncclGroupStart());
    reduce(c, s, 1000);
    reduce(c, s, 3000);
    OK(ncclGroupEnd());
    OK(ncclCommSplit(c, 0, rank, &all, NULL));
    reduce(all, s, 2000);
    OK(cudaStreamSynchronize(s));
    OK(ncclCommDestroy(all));
    end(c, s);
    return 0;
}
/* Steps of one operation each, whose times are scripted: who came last is known. */
static int scene_steps(void) {
    ncclComm_t c = world();
    CUstream s = stream();
    for (int i = 0; i < 60; ++i) {
        reduce(c, s, 1 << 18);
        OK(cudaStreamSynchronize(s));
    }
    end(c, s);
    return 0;
}
/* For bench/nccl: so many blocks of 100, and what an operation of the fastest took the host. */
static int scene_pace(void) {
    ncclComm_t c = world();
    CUstream s = stream();
    double fastest = 1e18;
    for (int block = 0; block < blocks; ++block) {
        struct timespec began, ended;
        clock_gettime(CLOCK_MONOTONIC, &began);
        for (int i = 0; i < 100; ++i) reduce(c, s, 1 << 10);
        clock_gettime(CLOCK_MONOTONIC, &ended);
        OK(cudaStreamSynchronize(s));
        const double ns = (double)(ended.tv_sec - began.tv_sec) * 1e9 + (double)(ended.tv_nsec - began.tv_nsec);
        if (ns / 100 < fastest) fastest = ns / 100;
    }
    printf("fastest_ns=%.1f\n", fastest);
    end(c, s);
    return 0;
}
/* As training does it: the host is far ahead of the GPU. */
static int scene_ahead(void) {
    ncclComm_t c = world();
    CUstream s = stream();
    for (int i = 0; i < 200; ++i) reduce(c, s, 1 << 18);
    end(c, s);
    return 0;
}
static int scene_uint8(void) {
    ncclComm_t c = world();
    CUstream s = stream();
    for (int i = 0; i < 10; ++i) OK(ncclAllReduce(in, out, 12345, ncclUint8, ncclMax, c, s));
    end(c, s);
    return 0;
}
/* PyTorch's all_to_all, and two collectives in one group. */
static int scene_groups(void) {
    ncclComm_t c = world();
    CUstream s = stream();
    for (int i = 0; i < 20; ++i) {
        OK(ncclGroupStart());
        for (int peer = 0; peer < size; ++peer) {
            OK(ncclSend(in, 1024, ncclFloat32, peer, c, s));
            OK(ncclRecv(out, 1024, ncclFloat32, peer, c, s));
        }
        OK(ncclGroupEnd());
        OK(cudaStreamSynchronize(s));
    }
    for (int i = 0; i < 10; ++i) {
        OK(ncclGroupStart());
        reduce(c, s, 1000);
        reduce(c, s, 3000);
        OK(ncclGroupEnd());
        OK(cudaStreamSynchronize(s));
    }
    end(c, s);
    return 0;
}
static int scene_nonblocking(void) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclComm_t c = NULL;
    const ncclResult_t made = ncclCommInitRankConfig(&c, size, id, rank, &config);
    if (made != ncclInProgress) OK(made);
    wait_for(c);
    CUstream s = stream();
    for (int i = 0; i < 30; ++i) { /* of broadcasts NCCL 2.30 does not tell */
        const ncclResult_t state = i < 20 ? ncclAllReduce(in, out, 1 << 18, ncclFloat32, ncclSum, c, s)
                                          : ncclBroadcast(in, out, 1000, ncclInt8, 0, c, s);
        if (state != ncclInProgress) OK(state);
        wait_for(c);
        OK(cudaStreamSynchronize(s));
    }
    const ncclResult_t finalized = ncclCommFinalize(c);
    if (finalized != ncclInProgress) OK(finalized);
    wait_for(c);
    OK(ncclCommDestroy(c));
    return 0;
}
static int scene_split(void) {
    ncclComm_t c = world(), half = NULL, all = NULL;
    CUstream s = stream();
    reduce(c, s, 1000);
    OK(ncclCommSplit(c, 0, rank, &all, NULL));
    OK(ncclCommSplit(c, rank, 0, &half, NULL)); /* one rank each */
    for (int i = 0; i < 10; ++i) reduce(all, s, 2000);
    for (int i = 0; i < 5; ++i) reduce(half, s, 500);
    OK(cudaStreamSynchronize(s));
    OK(ncclCommDestroy(half));
    OK(ncclCommDestroy(all));
    end(c, s);
    return 0;
}
int cudaStreamBeginCapture(CUstream, int), cudaStreamEndCapture(CUstream, CUgraph*);
int cudaGraphInstantiateWithFlags(void**, CUgraph, unsigned long long), cudaGraphLaunch(void*, CUstream);
int cudaGraphExecDestroy(void*), cudaGraphDestroy(CUgraph);
static int scene_captured(void) {
    ncclComm_t c = world();
    CUstream s = stream();
    CUgraph graph;
    void* executable;
    reduce(c, s, 1000);
    OK(cudaStreamSynchronize(s));
    OK(cudaStreamBeginCapture(s, capture_global));
    reduce(c, s, 1000);
    reduce(c, s, 1000);
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaGraphInstantiateWithFlags(&executable, graph, 1));
    for (int i = 0; i < 5; ++i) OK(cudaGraphLaunch(executable, s));
    OK(cudaStreamSynchronize(s));
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphDestroy(graph));
    reduce(c, s, 1000);
    end(c, s);
    return 0;
}

int main(int argc, char** argv) {
    static const struct {
        const char* name;
        int (*play)(void);
    } scenes[] = {{"calls", scene_calls},   {"few", scene_few},
                  {"ahead", scene_ahead},   {"steps", scene_steps},
                  {"pace", scene_pace},     {"uint8", scene_uint8},
                  {"groups", scene_groups}, {"nonblocking", scene_nonblocking},
                  {"split", scene_split},   {"captured", scene_captured}};
    if (argc < 3) return 2;
    rank = atoi(getenv("RANK"));
    size = atoi(getenv("WORLD_SIZE"));
    if (argc > 3) blocks = atoi(argv[3]);
    OK(cudaSetDevice(rank));
    share_id(argv[2]);
    OK(cudaMalloc((void**)&in, 4 << 20));
    OK(cudaMalloc((void**)&out, 4 << 20));
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; ++i)
        if (strcmp(argv[1], scenes[i].name) == 0) return scenes[i].play();
    fprintf(stderr, "no scene %s\n", argv[1]);
    return 2;
}
