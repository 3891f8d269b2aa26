/* What the program does with NCCL and the doubles of GPUs, a function each scene; included by program.c, which has
 * their table. Every time that a scene takes on the GPU follows from the rules of the doubles: see fake_cuda.c,
 * launches.h. */

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

#ifdef WITH_CUPTI
/* A profiler that begins before anything communicates, and ends later. */
static void begin_early(void) {
    fetch_cupti();
    OK(CUPTI(cuptiActivityRegisterCallbacks)(their_request, their_completion));
    OK(CUPTI(cuptiActivityEnable)(KIND_CONCURRENT_KERNEL));
}
static int scene_early(ncclComm_t c, CUstream s) {
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
static int scene_lone(ncclComm_t c, CUstream s) {
    lone(c, s);
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
#ifdef WITH_MPI
/* Something is under way when MPI ends, and more comes afterwards. */
static int scene_mpi_first(ncclComm_t c, CUstream s) {
    for (int i = 0; i < 5; ++i) reduce(c, s), finish(s);
    for (int i = 0; i < 3; ++i) reduce(c, s);
    MPI_Finalize();
    finish(s);
    for (int i = 0; i < 4; ++i) reduce(c, s), finish(s);
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
/* Whose profile ends before the communicator does. */
static int scene_mpi(ncclComm_t c, CUstream s) {
    for (int i = 0; i < 5; ++i) reduce(c, s), finish(s);
    MPI_Finalize();
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
#endif
static int scene_groups(ncclComm_t c, CUstream s) {
    groups(c, s);
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
/* Messages without bytes, which have a kernel all the same, and a collective without any, which has none. */
static int scene_empty(ncclComm_t c, CUstream s) {
    reduce(c, s), finish(s);
    OK(NCCL(ncclGroupStart)());
    OK(NCCL(ncclSend)(buffer, 0, ncclFloat32, 1, c, s));
    OK(NCCL(ncclRecv)(buffer, 0, ncclFloat32, 1, c, s));
    OK(NCCL(ncclGroupEnd)()), finish(s);
    OK(NCCL(ncclAllGather)(buffer, buffer, 0, ncclFloat32, c, s)), finish(s);
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
/* One operation on each of two GPUs: each has a time of its own. On the default streams, which are two, too. */
static int scene_gpus(ncclComm_t c, CUstream s) {
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
/* Enqueued on one GPU's default stream, launched while another GPU is current. */
static int scene_elsewhere(ncclComm_t c, CUstream s) {
    (void)s;
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
static int scene_threads(ncclComm_t c, CUstream s) {
    (void)s;
    pthread_t threads[4];
    ncclComm_t comms[4];
    char name[16];
    for (int i = 0; i < 4; ++i) snprintf(name, sizeof name, "thread%d", i), comms[i] = world(name);
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, comms[i]);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; ++i) OK(NCCL(ncclCommDestroy)(comms[i]));
    return 0;
}
static int scene_nonblocking(ncclComm_t c, CUstream s) {
    ncclConfig_t config = {sizeof config, 0xcafebeef, 22809, 0, 0, 0, 0, NULL, 0, 0, NULL};
    ncclUniqueId id;
    ncclComm_t n = NULL;
    memset(&id, 0, sizeof id);
    if (NCCL(ncclCommInitRankConfig)(&n, size, id, rank, &config) != ncclInProgress) return 1;
    for (int i = 0; i < 6; ++i) {
        must(NCCL(ncclAllReduce)(buffer, buffer, 1000, ncclFloat32, ncclSum, n, s) % ncclInProgress, "a reduction");
        finish(s);
    }
    reduce(c, s), finish(s);
    OK(NCCL(ncclCommAbort)(n));
    return 0;
}
/* While other work of before is under way: nobody may ask for it now. */
static int scene_captured(ncclComm_t c, CUstream s) {
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
/* A stream is captured while events of before are under way on it. */
static int scene_pending(ncclComm_t c, CUstream s) {
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
/* Streams that are destroyed while something is under way on them. */
static int scene_gone(ncclComm_t c, CUstream s) {
    for (int i = 0; i < 4; ++i) {
        CUstream t = stream_on(0);
        reduce(c, t), reduce(c, t);
        OK(cuStreamDestroy_v2(t));
    }
    for (int i = 0; i < 3; ++i) reduce(c, s), finish(s);
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
/* The default streams' other names. */
static int scene_numbers(ncclComm_t c, CUstream s) {
    (void)s;
    for (uintptr_t i = 0; i < 3; ++i) reduce(c, (CUstream)i), finish(NULL);
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
#ifdef HIP
/* An error that the program reads later is not replaced, and none is added to it. */
static int scene_unread(ncclComm_t c, CUstream s) {
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
/* Calls that NCCL refuses. */
static int scene_failing(ncclComm_t c, CUstream s) {
    for (int i = 0; i < 2; ++i)
        if (NCCL(ncclAllReduce)(buffer, buffer, 10, ncclFloat32, ncclSum, NULL, s) != ncclInvalidArgument) return 1;
    reduce(c, s), finish(s);
    return 0;
}
/* An illegal address, and everything of CUDA fails from now on. */
static int scene_broken(ncclComm_t c, CUstream s) {
    for (int i = 0; i < 3; ++i) usleep(i == 2 ? 100000 : 0), reduce(c, s), finish(s); /* the third one looks */
    fake_cuda_break();
    for (int i = 0; i < 3; ++i) reduce(c, s);
    OK(NCCL(ncclCommAbort)(c));
    return 0;
}
/* Two questions fail, and then everything is as before. */
static int scene_errors(ncclComm_t c, CUstream s) {
    for (int i = 0; i < 3; ++i) reduce(c, s), finish(s);
    fake_cuda_fail(2);
    for (int i = 0; i < 6; ++i) reduce(c, s), finish(s);
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
/* A communicator is ended by a thread that has no context. */
static int scene_bare(ncclComm_t c, CUstream s) {
    pthread_t thread;
    for (int i = 0; i < 3; ++i) reduce(c, s);
    finish(s);
    pthread_create(&thread, NULL, end_without_context, c);
    pthread_join(thread, NULL);
    for (int i = 0; i < 3; ++i) reduce(world("other"), s), finish(s);
    return 0;
}
/* Of the device: its context is another one, at the same address. */
static int scene_reset(ncclComm_t c, CUstream s) {
    for (int i = 0; i < 3; ++i) reduce(c, s), finish(s);
    OK(NCCL(ncclCommDestroy)(c));
    fake_cuda_reset(0);
    s = stream_on(0), c = world("other");
    for (int i = 0; i < 5; ++i) reduce(c, s), finish(s);
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
/* More under way than are remembered; nothing is waited for. */
static int scene_many(ncclComm_t c, CUstream s) {
    for (int i = 0; i < 3000; ++i) reduce(c, s);
    finish(s);
    for (int i = 0; i < 3000; ++i) reduce(c, s), finish(s);
    return 0;
}
static int scene_unfinished(ncclComm_t c, CUstream s) {
    for (int i = 0; i < 3; ++i) reduce(c, s), finish(s);
    for (int i = 0; i < 4; ++i) reduce(c, s);
    return 0;
}
/* Computing beside the first half of a reduction, after a copy. */
static int scene_overlap(ncclComm_t c, CUstream s) {
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
#include "tests/gpu/clients.h"
#ifdef FETCH
/* Whoever asks whether there is a CUPTI is told the truth. */
static int scene_absent(ncclComm_t c, CUstream s) {
    if (dlsym(RTLD_DEFAULT, "cuptiFinalize")) {
        fprintf(stderr, "cuptiFinalize exists\n");
        return 1;
    }
    reduce(c, s), finish(s);
    return 0;
}
#endif
static int scene_window(ncclComm_t c, CUstream s) {
    for (int i = 0; i < 5; ++i) reduce(c, s), finish(s);
    usleep(700000);
    for (int i = 0; i < 7; ++i) reduce(c, s), finish(s);
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
/* The window ends while the GPU is behind, and nothing of it is recorded afterwards. */
static int scene_tail(ncclComm_t c, CUstream s) {
    for (int i = 0; i < 5; ++i) reduce(c, s);
    usleep(1500000);
    for (int i = 0; i < 2; ++i) reduce(c, s);
    finish(s);
    return 0;
}
/* For a second and a half. */
static int scene_paced(ncclComm_t c, CUstream s) {
    for (int i = 0; i < 30; ++i) reduce(c, s), finish(s), usleep(50000);
    void* cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
    unsigned (*period)(void) = cupti ? (unsigned (*)(void))dlsym(cupti, "fake_cupti_period") : NULL;
    size_t (*buffers)(void) = cupti ? (size_t(*)(void))dlsym(cupti, "fake_cupti_device_buffers") : NULL;
    if (period && period() != 0) return fprintf(stderr, "CUPTI still flushes by itself\n"), 1;
    if (buffers && buffers() > 32) return fprintf(stderr, "CUPTI may take all memory\n"), 1;
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
static int scene_killed_slowly(ncclComm_t c, CUstream s) {
    for (int i = 0; i < 12; ++i) reduce(c, s), finish(s), usleep(250000);
    raise(SIGKILL);
    return 0;
}
static int scene_killed_later(ncclComm_t c, CUstream s) {
    ncclComm_t other = world("other");
    for (int i = 0; i < 700; ++i) reduce(c, s), finish(s);
    OK(NCCL(ncclCommDestroy)(other)); /* CUPTI hands over what it has */
    for (int i = 0; i < 30; ++i) reduce(c, s), finish(s);
    raise(SIGKILL);
    return 0;
}
static int scene_killed(ncclComm_t c, CUstream s) {
    for (int i = 0; i < 50; ++i) usleep(i == 49 ? 100000 : 0), reduce(c, s), finish(s); /* the last one looks */
    raise(SIGKILL);
    return 0;
}
static int scene_fork(ncclComm_t c, CUstream s) {
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
