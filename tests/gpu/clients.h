/* Scenes with another client of CUPTI, such as PyTorch's profiler; included by scenes.h alone. */
#pragma once

#ifdef WITH_CUPTI
/* Switches kinds off one by one and fetches the rest afterwards, as Kineto does. */
static int scene_profiler(ncclComm_t c, CUstream s) {
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
/* Twice, in a clock of its own that it tells CUPTI once, as Kineto does with the processor's counter. */
static uint64_t half_nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 2 * ((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec);
}
static int scene_ticks(ncclComm_t c, CUstream s) {
    fetch_cupti();
    for (int i = 0; i < 5; ++i) reduce(c, s), finish(s);
    OK(CUPTI(cuptiActivityRegisterTimestampCallback)(half_nanoseconds));
    for (int round = 1; round <= 2; ++round) {
        OK(CUPTI(cuptiActivityRegisterCallbacks)(their_request, their_completion));
        OK(CUPTI(cuptiActivityEnable)(KIND_CONCURRENT_KERNEL));
        for (int i = 0; i < 3; ++i) reduce(c, s), finish(s);
        OK(CUPTI(cuptiActivityDisable)(KIND_CONCURRENT_KERNEL));
        OK(CUPTI(cuptiActivityFlushAll)(0));
        if (their_kernels != 3 * round || their_time != 2 * 3000 * 3 * (uint64_t)round)
            return fprintf(stderr, "the other client saw %d kernels, %lu ticks\n", their_kernels, their_time), 1;
        usleep(2100000);
        for (int i = 0; i < 4; ++i) reduce(c, s), finish(s);
    }
    OK(NCCL(ncclCommDestroy)(c));
    return 0;
}
/* It was there before us, and ends CUPTI. */
static int scene_first(ncclComm_t c, CUstream s) {
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
