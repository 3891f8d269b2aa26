/* How the double of NCCL launches its operations, where there is a GPU (the double of libcuda, tests/gpu): a lone
 * operation by the call, a group by its outermost end; a communicator's operations of one group in as few kernels as
 * eight to one allow. A kernel takes 2 us and a nanosecond for every four bytes of each operation in it. Kernels have
 * the names that NCCL gives them, which always say RING_LL. A collective without bytes has no kernel, nor has what one
 * rank does alone; a message has one. With a nonblocking communicator another thread launches.
 *
 * FAKE_NCCL_WAITS=ns: each kernel is so much longer, since it waits for the other ranks.
 *
 * As NCCL does, a communicator connects its peers when it is used first: that takes the host 100 ms, by its own clock
 * and by the GPU's. Included by fake_nccl.c alone. */
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { in_a_kernel = 8, most_in_group = 512, kernel_ns = 2000, connecting_ns = 100000000 };

static _Thread_local struct task tasks[most_in_group];
static _Thread_local int queued;

static int (*launch_kernel)(const char*, uint64_t, void*);
static int (*launch_init)(unsigned), (*launch_context)(void**), (*launch_in)(void*);
static void (*launch_wait)(uint64_t);
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
    launch_wait = (void (*)(uint64_t))dlsym(cuda, "fake_cuda_host");
    launch_kernel = (int (*)(const char*, uint64_t, void*))dlsym(cuda, "fake_cuda_launch");
    if (launch_kernel) launch_init(0);
    launch_process = getpid();
}
static int has_gpu(void) { return launch_kernel && getpid() == launch_process; }

static const char* kernel_of(const char* function) {
    static const struct {
        const char *function, *kernel;
    } names[] = {
        {"AllReduce", "_Z40ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE"},
        {"Broadcast", "_Z31ncclDevKernel_Broadcast_RING_LL24ncclDevKernelArgsStorageILm4096EE"},
        {"Reduce", "_Z37ncclDevKernel_Reduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE"},
        {"AllGather", "_Z31ncclDevKernel_AllGather_RING_LL24ncclDevKernelArgsStorageILm4096EE"},
        {"ReduceScatter", "_Z44ncclDevKernel_ReduceScatter_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE"},
    };
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (strcmp(names[i].function, function) == 0) return names[i].kernel;
    return "_Z22ncclDevKernel_SendRecv24ncclDevKernelArgsStorageILm4096EE";
}

/* FAKE_NCCL_SILENT=FUNCTION:N[:M]: of the launches of this function the plugin is told N times, and then no more, or
 * not of the next M. */
static int is_silent(const char* function) {
    static int told;
    const char* silent = getenv("FAKE_NCCL_SILENT");
    const size_t n = strlen(function);
    if (!silent || strncmp(silent, function, n) != 0 || silent[n] != ':') return 0;
    const char* again = strchr(silent + n + 1, ':');
    const int first = atoi(silent + n + 1), number = __atomic_fetch_add(&told, 1, __ATOMIC_RELAXED);
    return number >= first && (!again || number < first + atoi(again + 1));
}

/* As much as one kernel does, and what the plugin is told of it. */
static void launch_plan(const struct task* const* plan, int n) {
    ncclComm_t comm = plan[0]->comm;
    if (has_gpu() && comm->size > 1) {
        const char* name = kernel_of(plan[0]->function);
        uint64_t ns = kernel_ns + (getenv("FAKE_NCCL_WAITS") ? strtoull(getenv("FAKE_NCCL_WAITS"), NULL, 10) : 0);
        void* before = NULL;
        for (int i = 0; i < n; ++i) {
            ns += plan[i]->bytes / 4;
            if (strcmp(name, kernel_of(plan[i]->function)) != 0)
                name = "_Z21ncclDevKernel_Generic24ncclDevKernelArgsStorageILm4096EE";
        }
        launch_context(&before);
        launch_in(plan[0]->context);
        if (!comm->is_connected++) usleep(connecting_ns / 1000), launch_wait(connecting_ns);
        void* told = is_silent(plan[0]->function) ? NULL : tell_of_launch(comm, plan[0]->stream);
        launch_kernel(name, ns, plan[0]->stream);
        tell_of_launched(told);
        launch_in(before);
    }
    tell_of_plan(plan, n);
}

/* A communicator's share of a group. */
static void launch_share(const struct task* all, int n, ncclComm_t comm) {
    const struct task* plan[in_a_kernel];
    int in_hand = 0;
    for (int i = 0; i < n; ++i) {
        if (all[i].comm != comm) continue;
        plan[in_hand++] = &all[i];
        if (in_hand == in_a_kernel) launch_plan(plan, in_hand), in_hand = 0;
    }
    if (in_hand) launch_plan(plan, in_hand);
}
struct launch {
    const struct task* all;
    int n;
};
static void* launch_all(void* argument) {
    const struct launch* l = argument;
    for (int i = 0; i < l->n; ++i) {
        int is_first = 1;
        for (int j = 0; j < i; ++j) is_first &= l->all[j].comm != l->all[i].comm;
        if (is_first) launch_share(l->all, l->n, l->all[i].comm);
    }
    return NULL;
}
/* A thread of its own is joined at once, so that tests are exact: what counts is that the caller is another. */
static void launch_queue(void) {
    struct launch all = {tasks, queued};
    if (queued == 0) return;
    if (tasks[0].comm->is_nonblocking)
        in_a_thread(launch_all, &all);
    else
        launch_all(&all);
    queued = 0;
}

static void launch_operation(struct task task) {
    const int is_message = !strcmp(task.function, "Send") || !strcmp(task.function, "Recv");
    if ((task.count == 0 && !is_message) || queued == most_in_group) return;
    if (has_gpu()) launch_context(&task.context);
    tell_of_call(&task);
    tasks[queued++] = task;
    if (group_depth) return;
    last_lone = task;
    launch_queue();
}
static void launch_group_start(void) { ++group_depth; }
static void launch_group_end(void) {
    if (group_depth == 0 || --group_depth) return;
    tell_of_births();
    launch_queue();
}
