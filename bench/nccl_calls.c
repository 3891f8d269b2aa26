// The work of bench/nccl: calls of an NCCL that does nothing (tests/nccl), one kind per case.
//   nccl_calls list                    the cases: name, ranks, NCCL calls in one round, what they are
//   nccl_calls time CASE ROUNDS BLOCKS wall time: BLOCKS blocks of ROUNDS rounds each
//   nccl_calls count ROUNDS CASE...    under callgrind: one dump per case, of ROUNDS rounds each
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/nccl/nccl.h"

#define F(name, arguments) int name arguments;
NCCL_FUNCTIONS(F)
#undef F

static char buffer[8];
static ncclComm_t comm;

static void none(void) { __asm__ volatile("" ::: "memory"); }
static void all_reduce(void) { ncclAllReduce(buffer, buffer, 1000, ncclFloat32, ncclSum, comm, NULL); }
static void all_gather(void) { ncclAllGather(buffer, buffer, 1000, ncclFloat32, comm, NULL); }
static void send_and_receive(void) {
    ncclGroupStart();
    ncclSend(buffer, 1000, ncclFloat32, 0, comm, NULL);
    ncclRecv(buffer, 1000, ncclFloat32, 0, comm, NULL);
    ncclGroupEnd();
}
static void async_error(void) {
    int error;
    ncclCommGetAsyncError(comm, &error);
}

static const struct {
    const char* name;
    int calls;
    void (*round)(void);
    const char* what;
} cases[] = {
    {"none", 1, none, "an empty function"},
    {"nccl_allreduce", 1, all_reduce, "ncclAllReduce"},
    {"nccl_allgather", 1, all_gather, "ncclAllGather: its size needs the communicator's"},
    {"nccl_group", 4, send_and_receive, "ncclGroupStart, Send, Recv, ncclGroupEnd"},
    {"nccl_async_error", 1, async_error, "ncclCommGetAsyncError, a counted call"},
};
enum { n_cases = sizeof cases / sizeof cases[0] };

static const char program[] = "nccl_calls";
#include "bench/cases.h"

static void measure(int k, int rounds, int blocks) {
    double fastest = 1e18;
    for (int i = 0; i < warm_up; i++) cases[k].round();
    for (int b = 0; b < blocks; b++) {
        const double began = ns();
        for (int i = 0; i < rounds; i++) cases[k].round();
        const double each = (ns() - began) / rounds;
        if (each < fastest) fastest = each;
    }
    printf("measured fastest_ns=%.2f\n", fastest);
}

int main(int argc, char** argv) {
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        for (int i = 0; i < n_cases; i++) printf("%s|1|%d|%s\n", cases[i].name, cases[i].calls, cases[i].what);
        return 0;
    }
    const int is_count = argc > 3 && strcmp(argv[1], "count") == 0;
    if (!is_count && !(argc == 5 && strcmp(argv[1], "time") == 0)) {
        fprintf(stderr, "usage: nccl_calls list | time CASE ROUNDS BLOCKS | count ROUNDS CASE...\n");
        return 2;
    }
    ncclUniqueId id;
    // With a GPU each round waits for it: nobody has a thousand operations under way for ever.
    int (*const synchronize)(void*) = of_driver("cuStreamSynchronize");
    if (ncclGetUniqueId(&id) || ncclCommInitRank(&comm, 2, id, 0)) return 1;
    if (is_count)
        count(atoi(argv[2]), argv + 3, argc - 3, synchronize);
    else
        measure(find(argv[2]), atoi(argv[3]), atoi(argv[4]));
    return ncclCommDestroy(comm);
}
