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
static void their_request(uint8_t** at, size_t* bytes, size_t* most) {
    *bytes = 1 << 16;
    *at = aligned_alloc(8, *bytes);
    *most = 0;
}
static void their_completion(void* context, uint32_t stream, uint8_t* at, size_t bytes, size_t valid) {
    (void)context, (void)stream, (void)bytes;
    uint8_t* record = NULL;
    while (CUPTI(cuptiActivityGetNextRecord)(at, valid, &record) == CUPTI_OK)
        their_kernels += *(uint32_t*)record == KIND_CONCURRENT_KERNEL;
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

static void lone(ncclComm_t c, CUstream s) {
    for (int i = 0; i < 5; ++i) reduce(c, s), finish(s);
    for (int i = 0; i < 3; ++i)
        OK(NCCL(ncclAllGather)(buffer, buffer, 100, ncclFloat32, c, s)), finish(s); /* 100 x 4 x ranks */
    for (int i = 0; i < 2; ++i) OK(NCCL(ncclBcast)(buffer, 70, ncclInt8, 0, c, s)), finish(s);
    for (int i = 0; i < 4; ++i) reduce(c, s); /* the first finds its stream idle */
    finish(s);
}
static void groups(ncclComm_t c, CUstream s) {
    OK(NCCL(ncclGroupStart)());
    OK(NCCL(ncclGroupStart)());
    for (int i = 0; i < 3; ++i) OK(NCCL(ncclSend)(buffer, 1000, ncclFloat32, i, c, s));
    OK(NCCL(ncclGroupEnd)());
    for (int i = 0; i < 2; ++i) OK(NCCL(ncclRecv)(buffer, 1000, ncclFloat32, i, c, s));
    OK(NCCL(ncclGroupEnd)()); /* one kernel: 2000 + 5 x 1000 */
    finish(s);
    OK(NCCL(ncclGroupStart)());
    for (int i = 0; i < 10; ++i) reduce(c, s);
    OK(NCCL(ncclGroupEnd)()); /* two kernels: 2000 + 8 x 1000, 2000 + 2 x 1000 */
    finish(s);
    OK(NCCL(ncclGroupStart)());
    reduce(c, s);
    OK(NCCL(ncclGroupEnd)()); /* one operation is what it is */
    finish(s);
}
static void* work(void* comm) {
    CUstream s;
    OK(cuStreamCreate(&s, 0));
    for (int i = 0; i < 100; ++i) {
        reduce(comm, s);
        if (i % 10 == 9) finish(s);
    }
    return NULL;
}

static void* end_without_context(void* comm) {
    OK(cuCtxSetCurrent(NULL));
    OK(NCCL(ncclCommAbort)(comm));
    return NULL;
}

#define SCENE(name) if (strcmp(scene, name) == 0)
int main(int argc, char** argv) {
    const char* scene = argc > 1 ? argv[1] : "lone";
    rank = number("RANK", 0);
    size = number("WORLD_SIZE", 2);
    fetch();
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#endif
#ifdef WITH_CUPTI
    SCENE("early") { /* a profiler that begins before anything communicates, and ends later */
        fetch_cupti();
        OK(CUPTI(cuptiActivityRegisterCallbacks)(their_request, their_completion));
        OK(CUPTI(cuptiActivityEnable)(KIND_CONCURRENT_KERNEL));
    }
#endif
    ncclComm_t c = world("world");
    CUstream s = stream_on(0);
#ifdef WITH_CUPTI
    SCENE("early") {
        for (int i = 0; i < 3; ++i) reduce(c, s), finish(s);
        OK(CUPTI(cuptiActivityDisable)(KIND_CONCURRENT_KERNEL));
        OK(CUPTI(cuptiActivityFlushAll)(0));
        if (their_kernels != 3) {
            fprintf(stderr, "the other client saw %d kernels\n", their_kernels);
            return 1;
        }
        usleep(2100000);
        for (int i = 0; i < 4; ++i) reduce(c, s), finish(s);
        OK(NCCL(ncclCommDestroy)(c));
        return 0;
    }
#endif
    SCENE("lone") {
        lone(c, s);
        OK(NCCL(ncclCommDestroy)(c));
        return 0;
    }
#ifdef WITH_MPI
    SCENE("mpi_first") { /* something is under way when MPI ends, and more comes afterwards */
        for (int i = 0; i < 5; ++i) reduce(c, s), finish(s);
        for (int i = 0; i < 3; ++i) reduce(c, s);
        MPI_Finalize();
        finish(s);
        for (int i = 0; i < 4; ++i) reduce(c, s), finish(s);
        OK(NCCL(ncclCommDestroy)(c));
        return 0;
    }
    SCENE("mpi") { /* whose profile ends before the communicator does */
        for (int i = 0; i < 5; ++i) reduce(c, s), finish(s);
        MPI_Finalize();
        OK(NCCL(ncclCommDestroy)(c));
        return 0;
    }
#endif
    SCENE("groups") {
        groups(c, s);
        OK(NCCL(ncclCommDestroy)(c));
        return 0;
    }
    SCENE("gpus") { /* one operation on each of two GPUs: each has a time of its own. On the default streams, which are
                       two, too */
        ncclComm_t other = world("other");
        CUstream t = stream_on(1);
        CUcontext contexts[2];
        for (int i = 0; i < 2; ++i) OK(cuDevicePrimaryCtxRetain(&contexts[i], i));
        for (int round = 0; round < 2; ++round) {
            OK(NCCL(ncclGroupStart)());
            OK(cuCtxSetCurrent(contexts[0]));
            reduce(c, round ? NULL : s);
            OK(cuCtxSetCurrent(contexts[1]));
            OK(NCCL(ncclAllGather)(buffer, buffer, 1000, ncclFloat32, other, round ? NULL : t)); /* 1000 x 4 x ranks */
            if (round)
                OK(cuCtxSetCurrent(contexts[0])); /* of whichever context is current when the operation is enqueued */
            OK(NCCL(ncclGroupEnd)());
            OK(cuCtxSetCurrent(contexts[0])), finish(round ? NULL : s);
            OK(cuCtxSetCurrent(contexts[1])), finish(round ? NULL : t);
        }
        return 0;
    }
    SCENE("elsewhere") { /* enqueued on one GPU's default stream, launched while another GPU is current */
        CUcontext contexts[2];
        for (int i = 0; i < 2; ++i) OK(cuDevicePrimaryCtxRetain(&contexts[i], i));
        for (int i = 0; i < 3; ++i) {
            OK(NCCL(ncclGroupStart)());
            OK(cuCtxSetCurrent(contexts[1]));
            reduce(c, NULL);
            OK(cuCtxSetCurrent(contexts[0]));
            OK(NCCL(ncclGroupEnd)());
            OK(cuCtxSetCurrent(contexts[1])), finish(NULL);
        }
        OK(NCCL(ncclCommDestroy)(c));
        return 0;
    }
    SCENE("threads") {
        pthread_t threads[4];
        ncclComm_t comms[4];
        char name[16];
        for (int i = 0; i < 4; ++i) snprintf(name, sizeof name, "thread%d", i), comms[i] = world(name);
        for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, comms[i]);
        for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
        for (int i = 0; i < 4; ++i) OK(NCCL(ncclCommDestroy)(comms[i]));
        return 0;
    }
    SCENE("nonblocking") {
        ncclConfig_t config = {sizeof config, 0xcafebeef, 22809, 0, 0, 0, 0, NULL, 0, 0, NULL};
        ncclUniqueId id;
        ncclComm_t n = NULL;
        memset(&id, 0, sizeof id);
        if (NCCL(ncclCommInitRankConfig)(&n, size, id, rank, &config) != ncclInProgress) return 1;
        for (int i = 0; i < 6; ++i) {
            if (NCCL(ncclAllReduce)(buffer, buffer, 1000, ncclFloat32, ncclSum, n, s) != ncclInProgress) return 1;
            finish(s);
        }
        reduce(c, s), finish(s);
        OK(NCCL(ncclCommAbort)(n));
        return 0;
    }
    SCENE("captured") { /* while other work of before is under way: nobody may ask for it now */
        CUgraph graph = NULL;
        CUstream other = stream_on(0);
        for (int i = 0; i < 3; ++i) reduce(c, other);
        OK(cuStreamBeginCapture_v2(s, capture_global));
        for (int i = 0; i < 4; ++i) reduce(c, s);
        reduce(c, other); /* not captured */
        OK(cuStreamEndCapture(s, &graph));
        finish(other);
        for (int i = 0; i < 5; ++i) OK(cuGraphLaunch(graph, s)), finish(s);
        reduce(c, s), finish(s);
        OK(NCCL(ncclCommDestroy)(c));
        return 0;
    }
    SCENE("pending") { /* a stream is captured while events of before are under way on it */
        CUgraph graph = NULL;
        CUstream other = stream_on(0);
        for (int i = 0; i < 3; ++i) reduce(c, s);
        OK(cuStreamBeginCapture_v2(s, capture_relaxed));
        for (int i = 0; i < 5; ++i) reduce(c, other), finish(other);
        OK(cuStreamEndCapture(s, &graph));
        reduce(c, s), finish(s);
        OK(NCCL(ncclCommDestroy)(c));
        return 0;
    }
    SCENE("gone") { /* streams that are destroyed while something is under way on them */
        for (int i = 0; i < 4; ++i) {
            CUstream t = stream_on(0);
            reduce(c, t), reduce(c, t);
            OK(cuStreamDestroy_v2(t));
        }
        for (int i = 0; i < 3; ++i) reduce(c, s), finish(s);
        OK(NCCL(ncclCommDestroy)(c));
        return 0;
    }
    SCENE("numbers") { /* the default streams' other names */
        for (uintptr_t i = 0; i < 3; ++i) reduce(c, (CUstream)i), finish(NULL);
        OK(NCCL(ncclCommDestroy)(c));
        return 0;
    }
#ifdef HIP
    SCENE("unread") { /* an error that the program reads later is not replaced, and none is added to it */
        reduce(c, s), finish(s);
        if (hipPeekAtLastError() != 0) return 1;
        fake_hip_fail();
        for (int i = 0; i < 3; ++i) reduce(c, s);
        OK(NCCL(ncclGroupStart)());
        for (int i = 0; i < 2; ++i) reduce(c, s);
        OK(NCCL(ncclGroupEnd)());
        if (hipGetLastError() != 1) return 1;
        for (int i = 0; i < 3; ++i) reduce(c, s); /* not finished: asking whether is answered by an error */
        if (hipPeekAtLastError() != 0) return 1;
        finish(s);
        OK(NCCL(ncclCommDestroy)(c));
        return hipGetLastError();
    }
#endif
    SCENE("failing") { /* calls that NCCL refuses */
        for (int i = 0; i < 2; ++i)
            if (NCCL(ncclAllReduce)(buffer, buffer, 10, ncclFloat32, ncclSum, NULL, s) != ncclInvalidArgument) return 1;
        reduce(c, s), finish(s);
        return 0;
    }
    SCENE("broken") { /* an illegal address, and everything of CUDA fails from now on */
        for (int i = 0; i < 3; ++i) reduce(c, s), finish(s);
        fake_cuda_break();
        for (int i = 0; i < 3; ++i) reduce(c, s);
        OK(NCCL(ncclCommAbort)(c));
        return 0;
    }
    SCENE("errors") { /* two questions fail, and then everything is as before */
        for (int i = 0; i < 3; ++i) reduce(c, s), finish(s);
        fake_cuda_fail(2);
        for (int i = 0; i < 6; ++i) reduce(c, s), finish(s);
        OK(NCCL(ncclCommDestroy)(c));
        return 0;
    }
    SCENE("bare") { /* a communicator is ended by a thread that has no context */
        pthread_t thread;
        for (int i = 0; i < 3; ++i) reduce(c, s);
        finish(s);
        pthread_create(&thread, NULL, end_without_context, c);
        pthread_join(thread, NULL);
        for (int i = 0; i < 3; ++i) reduce(world("other"), s), finish(s);
        return 0;
    }
    SCENE("reset") { /* of the device: its context is another one, at the same address */
        for (int i = 0; i < 3; ++i) reduce(c, s), finish(s);
        OK(NCCL(ncclCommDestroy)(c));
        fake_cuda_reset(0);
        s = stream_on(0), c = world("other");
        for (int i = 0; i < 5; ++i) reduce(c, s), finish(s);
        OK(NCCL(ncclCommDestroy)(c));
        return 0;
    }
    SCENE("many") { /* more under way than are remembered; nothing is waited for */
        for (int i = 0; i < 3000; ++i) reduce(c, s);
        finish(s);
        for (int i = 0; i < 3000; ++i) reduce(c, s), finish(s);
        return 0;
    }
    SCENE("unfinished") {
        for (int i = 0; i < 3; ++i) reduce(c, s), finish(s);
        for (int i = 0; i < 4; ++i) reduce(c, s);
        return 0;
    }
    SCENE("overlap") { /* computing beside the first half of a reduction, after a copy */
        static const struct fake_function compute = {"_Z4gemmPfS_", 1500}, longer = {"_Z4gemmPfS_", 4000};
        CUstream t = stream_on(0);
        reduce(c, s), finish(s); /* CUPTI begins with the first operation */
        OK(cuMemcpyHtoDAsync_v2(0, buffer, 700, t)), finish(t);
        for (int i = 0; i < 3; ++i) {
            OK(cuLaunchKernel(&compute, 1, 1, 1, 1, 1, 1, 0, t, NULL, NULL)); /* 500 to 2000 ns from now */
            reduce(c, s);                                                     /* 1500 to 4500 */
            OK(cuLaunchKernel(&longer, 1, 1, 1, 1, 1, 1, 0, t, NULL, NULL));  /* 2500 to 6500 */
            finish(t), finish(s);
            reduce(c, s), finish(s); /* alone */
        }
        OK(cuMemcpyDtoHAsync_v2(buffer, 0, 900, t)), finish(t);
        OK(NCCL(ncclCommDestroy)(c));
        return 0;
    }
#ifdef WITH_CUPTI
    SCENE("profiler") { /* switches kinds off one by one and fetches the rest afterwards, as Kineto does */
        fetch_cupti();
        for (int i = 0; i < 5; ++i) reduce(c, s), finish(s);
        OK(CUPTI(cuptiActivityRegisterCallbacks)(their_request, their_completion));
        OK(CUPTI(cuptiActivityEnable)(KIND_CONCURRENT_KERNEL));
        for (int i = 0; i < 3; ++i) reduce(c, s), finish(s);
        OK(CUPTI(cuptiActivityDisable)(KIND_MEMCPY));
        OK(CUPTI(cuptiActivityDisable)(KIND_CONCURRENT_KERNEL));
        OK(CUPTI(cuptiActivityFlushAll)(0));
        for (int i = 0; i < 2; ++i) reduce(c, s), finish(s); /* it may come back */
        usleep(2100000);
        for (int i = 0; i < 4; ++i) reduce(c, s), finish(s);
        OK(NCCL(ncclCommDestroy)(c));
        if (their_kernels != 3) {
            fprintf(stderr, "the other client saw %d kernels\n", their_kernels);
            return 1;
        }
        return 0;
    }
    SCENE("first") { /* it was there before us, and ends CUPTI */
        fetch_cupti();
        OK(CUPTI(cuptiActivityRegisterCallbacks)(their_request, their_completion));
        OK(CUPTI(cuptiActivityEnable)(KIND_CONCURRENT_KERNEL));
        for (int i = 0; i < 3; ++i) reduce(c, s), finish(s);
        OK(CUPTI(cuptiActivityFlushAll)(0));
        OK(CUPTI(cuptiFinalize)());
        for (int i = 0; i < 2; ++i) reduce(c, s), finish(s);
        if (their_kernels != 3) {
            fprintf(stderr, "the other client saw %d kernels\n", their_kernels);
            return 1;
        }
        return 0;
    }
#endif
#ifdef FETCH
    SCENE("absent") { /* whoever asks whether there is a CUPTI is told the truth */
        if (dlsym(RTLD_DEFAULT, "cuptiFinalize")) {
            fprintf(stderr, "cuptiFinalize exists\n");
            return 1;
        }
        reduce(c, s), finish(s);
        return 0;
    }
#endif
    SCENE("window") {
        for (int i = 0; i < 5; ++i) reduce(c, s), finish(s);
        usleep(700000);
        for (int i = 0; i < 7; ++i) reduce(c, s), finish(s);
        OK(NCCL(ncclCommDestroy)(c));
        return 0;
    }
    SCENE("tail") { /* the window ends while the GPU is behind, and nothing of it is recorded afterwards */
        for (int i = 0; i < 5; ++i) reduce(c, s);
        usleep(1500000);
        for (int i = 0; i < 2; ++i) reduce(c, s);
        finish(s);
        return 0;
    }
    SCENE("paced") { /* for a second and a half */
        for (int i = 0; i < 30; ++i) reduce(c, s), finish(s), usleep(50000);
        void* cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
        unsigned (*period)(void) = cupti ? (unsigned (*)(void))dlsym(cupti, "fake_cupti_period") : NULL;
        size_t (*buffers)(void) = cupti ? (size_t(*)(void))dlsym(cupti, "fake_cupti_device_buffers") : NULL;
        if (period && period() != 0) return fprintf(stderr, "CUPTI still flushes by itself\n"), 1;
        if (buffers && buffers() > 32) return fprintf(stderr, "CUPTI may take all memory\n"), 1;
        OK(NCCL(ncclCommDestroy)(c));
        return 0;
    }
    SCENE("killed_slowly") {
        for (int i = 0; i < 12; ++i) reduce(c, s), finish(s), usleep(250000);
        raise(SIGKILL);
    }
    SCENE("killed_later") {
        ncclComm_t other = world("other");
        for (int i = 0; i < 700; ++i) reduce(c, s), finish(s);
        OK(NCCL(ncclCommDestroy)(other)); /* CUPTI hands over what it has */
        for (int i = 0; i < 30; ++i) reduce(c, s), finish(s);
        raise(SIGKILL);
    }
    SCENE("killed") {
        for (int i = 0; i < 50; ++i) reduce(c, s), finish(s);
        raise(SIGKILL);
    }
    SCENE("fork") {
        reduce(c, s), finish(s);
        for (int i = 0; i < 3; ++i)
            if (fork() == 0) {
                if (i == 1) reduce(c, s);
                if (i == 2) execlp("sh", "sh", "-c", "true", (char*)NULL);
                exit(0);
            }
        int status;
        while (wait(&status) > 0)
            if (status) {
                fprintf(stderr, "a child ended with status %d\n", status);
                return 1;
            }
        reduce(c, s), finish(s);
        return 0;
    }
    fprintf(stderr, "no scene %s\n", scene);
    return 2;
}
