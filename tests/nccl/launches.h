/* How the double of NCCL launches its operations, where there is a GPU (the double of libcuda, tests/gpu): a lone
 * operation by the call, a group by its outermost end; a communicator's operations of one group in as few kernels as
 * eight to one allow. A kernel takes 2 us and a nanosecond for every four bytes of each operation in it. Kernels have
 * the names that NCCL gives them, which always say RING_LL. With a nonblocking communicator another thread launches.
 * Included by fake_nccl.c alone. */
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { in_a_kernel = 8, most_in_group = 256, kernel_ns = 2000 };

struct launch {
    const void* comm;
    const char* name;
    uint64_t ns;
    void *stream, *context;
};
static _Thread_local struct {
    int depth, used;
    struct launch operations[most_in_group];
} launches;

static int (*launch_kernel)(const char*, uint64_t, void*);
static int (*launch_init)(unsigned), (*launch_context)(void**), (*launch_in)(void*);
static pid_t launch_process;

/* The process has a GPU from its first communicator on, as it has with NCCL itself. */
static void launch_find_gpu(void) {
    const char* gpu = getenv("FAKE_GPU");
    if (launch_kernel || !gpu) return;
    void* cuda = dlopen(strncmp(gpu, "lib", 3) == 0 ? gpu : "libcuda.so.1", RTLD_NOW);
    if (!cuda) return;
    launch_init = (int (*)(unsigned))dlsym(cuda, "cuInit");
    launch_context = (int (*)(void**))dlsym(cuda, "cuCtxGetCurrent");
    launch_in = (int (*)(void*))dlsym(cuda, "cuCtxSetCurrent");
    launch_kernel = (int (*)(const char*, uint64_t, void*))dlsym(cuda, "fake_cuda_launch");
    if (launch_kernel) launch_init(0);
    launch_process = getpid();
}

static const char* launch_name(const char* function) { /* "ncclAllReduce" */
    static const struct {
        const char *function, *kernel;
    } names[] = {
        {"ncclAllReduce", "_Z40ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE"},
        {"ncclBroadcast", "_Z31ncclDevKernel_Broadcast_RING_LL24ncclDevKernelArgsStorageILm4096EE"},
        {"ncclReduce", "_Z37ncclDevKernel_Reduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE"},
        {"ncclAllGather", "_Z31ncclDevKernel_AllGather_RING_LL24ncclDevKernelArgsStorageILm4096EE"},
        {"ncclReduceScatter", "_Z44ncclDevKernel_ReduceScatter_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE"},
    };
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (strcmp(names[i].function, function) == 0) return names[i].kernel;
    return "_Z22ncclDevKernel_SendRecv24ncclDevKernelArgsStorageILm4096EE";
}

/* A communicator's share of a group: its operations, eight to a kernel. */
static void launch_share(const struct launch* all, int n, const void* comm) {
    int in_hand = 0;
    uint64_t ns = 0;
    const char* name = NULL;
    void *stream = NULL, *before = NULL;
    launch_context(&before);
    for (int i = 0; i <= n; ++i) {
        if (i < n && all[i].comm != comm) continue;
        if (in_hand && (i == n || in_hand == in_a_kernel)) {
            launch_kernel(name, kernel_ns + ns, stream);
            in_hand = 0;
            ns = 0;
        }
        if (i == n) break;
        if (in_hand && strcmp(name, all[i].name) != 0)
            name = "_Z21ncclDevKernel_Generic24ncclDevKernelArgsStorageILm4096EE";
        if (in_hand++ == 0) name = all[i].name, stream = all[i].stream, launch_in(all[i].context);
        ns += all[i].ns;
    }
    launch_in(before);
}
static void launch_all(const struct launch* all, int n) {
    for (int i = 0; i < n; ++i) {
        int is_first = 1;
        for (int j = 0; j < i; ++j) is_first &= all[j].comm != all[i].comm;
        if (is_first) launch_share(all, n, all[i].comm);
    }
}
static void* launch_in_thread(void* one) {
    launch_all(one, 1);
    return NULL;
}

static void launch_operation(const char* function, const void* comm, uint64_t bytes, void* stream, int is_nonblocking) {
    if (!launch_kernel || getpid() != launch_process) return;
    struct launch one = {comm, launch_name(function), bytes / 4, stream, NULL};
    launch_context(&one.context);
    if (launches.depth) {
        if (launches.used < most_in_group) launches.operations[launches.used++] = one;
    } else if (is_nonblocking) { /* joined at once, so that tests are exact: what counts is that the caller is another
                                  */
        pthread_t thread;
        pthread_create(&thread, NULL, launch_in_thread, &one);
        pthread_join(thread, NULL);
    } else {
        launch_all(&one, 1);
    }
}
static void launch_group_start(void) { launches.depth += 1; }
static void launch_group_end(void) {
    if (launches.depth == 0 || --launches.depth) return;
    if (launch_kernel && getpid() == launch_process) launch_all(launches.operations, launches.used);
    launches.used = 0;
}
