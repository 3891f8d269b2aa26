/* memory full: a rank with many peers, call sites and communicators.  memory threads: one with further threads.
 * memory training: a step of a training loop.
 * After each step it prints what it has in memory: its own (pages of no file, and those of its profile); with the
 * pages of files, which all ranks of a node share; and those that come from the library's file; in KiB. Run by
 * bench/memory against bench/memory_mpi.c, with the library and without. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/memory_mpi.h"

enum { threads = 8, in_flight = 64 };

static double data[64];

static void say_memory(const char* step) {
    static char buffer[1 << 16], line[4096];
    FILE* maps = fopen("/proc/self/smaps", "r");
    long own = 0, resident = 0, of_library = 0, kib;
    int is_profile = 0, is_library = 0;
    setvbuf(maps, buffer, _IOFBF, sizeof buffer);
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "Rss: %ld", &kib) == 1)
            resident += kib, own += is_profile ? kib : 0, of_library += is_library ? kib : 0;
        else if (sscanf(line, "Anonymous: %ld", &kib) == 1)
            own += kib;
        else if (strchr(line, '-') && strchr(line, '-') < strchr(line, ' ')) { /* the line that begins a mapping */
            is_profile = strstr(line, "mpi_profile.") != NULL;
            is_library = strstr(line, "/libmpiprof.so") != NULL;
        }
    }
    fclose(maps);
    printf("%s|%ld|%ld|%ld\n", step, own, resident, of_library);
    fflush(stdout);
}

static void peers(int comm) {
    for (int peer = 0; peer < ranks; ++peer)
        if (peer != 0) MPI_Send(data, 1, type_double, peer, 0, comm);
}

/* A thousand places that call, below as many callers as a site has frames by default. */
#define SITE                                     \
    MPI_Send(data, 1, type_double, 1, 0, world); \
    __asm__ volatile("");
#define TEN(x) x x x x x x x x x x
__attribute__((noinline)) static void sites(int callers) {
    if (callers == 0) {
        TEN(TEN(TEN(SITE)))
    } else
        sites(callers - 1);
    __asm__ volatile("");
}

static void communicators(int dups, int splits) {
    int made;
    for (int i = 0; i < dups; ++i) MPI_Comm_dup(world, &made), MPI_Send(data, 1, type_double, 1, 0, made);
    for (int i = 0; i < splits; ++i) MPI_Comm_split(world, 1, 0, &made), MPI_Send(data, 1, type_double, 1, 0, made);
}

static pthread_barrier_t phase;

/* What a further thread does: a solver's reductions, an exchange with 32 others; then the same by requests. */
static void* work(void* unused) {
    double sum[64];
    void* volatile first = malloc(
        1); /* as every thread of a program does sooner or later: what malloc keeps for it is not the library's */
    free(first);
    for (int n = 1; n <= 64; n *= 2) MPI_Allreduce(data, sum, n, type_double, op_sum, world);
    for (int peer = 1; peer <= 32; ++peer) {
        MPI_Send(data, 1, type_double, peer, 0, world);
        MPI_Recv(sum, 1, type_double, peer, 0, world, NO_STATUS);
    }
    pthread_barrier_wait(&phase);
    pthread_barrier_wait(&phase); /* main says what it has */
    int requests[2 * in_flight];
    for (int i = 0; i < in_flight; ++i) {
        MPI_Irecv(sum, 1, type_double, 1 + i % 32, 0, world, &requests[i]);
        MPI_Isend(data, 1, type_double, 1 + i % 32, 0, world, &requests[in_flight + i]);
    }
    MPI_Waitall(2 * in_flight, requests, NO_STATUSES);
    pthread_barrier_wait(&phase);
    pthread_barrier_wait(&phase);
    return unused;
}

static void further_threads(void) {
    pthread_t thread[threads];
    pthread_barrier_init(&phase, NULL, threads + 1);
    for (int i = 0; i < threads; ++i) pthread_create(&thread[i], NULL, work, NULL);
    pthread_barrier_wait(&phase);
    say_memory("threads");
    pthread_barrier_wait(&phase);
    pthread_barrier_wait(&phase);
    say_memory("requests");
    pthread_barrier_wait(&phase);
    for (int i = 0; i < threads; ++i) pthread_join(thread[i], NULL);
}

/* Gradients are reduced in buckets while a pipeline hands activations on; then the loss, and all wait for the slowest.
 */
static void training_step(void) {
    double sum[64];
    int requests[2];
    MPI_Bcast(data, 1, type_double, 0, world);
    MPI_Irecv(sum, 64, type_double, 1, 0, world, &requests[0]);
    MPI_Isend(data, 64, type_double, 2, 0, world, &requests[1]);
    for (int n = 64; n > 0; n /= 4) MPI_Allreduce(data, sum, n, type_double, op_sum, world);
    MPI_Waitall(2, requests, NO_STATUSES);
    MPI_Allreduce(data, sum, 1, type_double, op_sum, world);
    MPI_Barrier(world);
}

int main(int argc, char** argv) {
    say_memory("nothing"); /* and once more, since this takes some itself */
    say_memory("before");
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10; ++i) MPI_Send(data, 1, type_double, 1, 0, world);
    usleep(300000); /* the first write of the written store touches pages that would count for any later step */
    say_memory("start");
    if (argc > 1 && strcmp(argv[1], "threads") == 0) {
        further_threads();
        MPI_Finalize();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "training") == 0) {
        training_step();
        say_memory("training");
        MPI_Finalize();
        return 0;
    }
    peers(world);
    say_memory("peers");
    sites(5); /* and main, and the two that call it */
    say_memory("sites");
    communicators(50, 50);
    say_memory("communicators");
    int other;
    MPI_Comm_split(world, 0, 0, &other);
    peers(other);
    say_memory("reordered");
    MPI_Finalize();
    return 0;
}
