/* More ranks than processors: each computes, and measures by the kernel's account how long it waited for a processor
   outside MPI and inside. "together": all meet in an MPI_Allreduce; "in turn": each hands on to the next. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile double sink;

static double milliseconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void work(double ms) {
    const double end = milliseconds(CLOCK_THREAD_CPUTIME_ID) + ms;
    while (milliseconds(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 200; ++i) sink += i;
}

static int account;
static unsigned long long waited(void) {
    char text[96] = {0};
    unsigned long long ran = 0, wait = 0;
    if (pread(account, text, sizeof text - 1, 0) <= 0 || sscanf(text, "%llu %llu", &ran, &wait) != 2) exit(77);
    return wait;
}

static double time_before;
static unsigned long long waited_before;
static struct { double ms, waited_ms; } outside, inside;

static void was(int is_inside) {
    const double now = milliseconds(CLOCK_MONOTONIC);
    const unsigned long long wait = waited();
    const double waited_ms = (wait - waited_before) / 1e6;
    if (is_inside)
        inside.ms += now - time_before, inside.waited_ms += waited_ms;
    else
        outside.ms += now - time_before, outside.waited_ms += waited_ms;
    time_before = now;
    waited_before = wait;
}

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    account = open("/proc/thread-self/schedstat", O_RDONLY);
    const int in_turn = strcmp(argv[1], "in turn") == 0, steps = atoi(argv[2]);
    double x = 1, sum;
    waited_before = waited();
    time_before = milliseconds(CLOCK_MONOTONIC);
    for (int step = 0; step < steps; ++step) {
        if (in_turn && rank > 0) {
            was(0);
            MPI_Recv(&x, 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            was(1);
        }
        work(rank == size - 1 && !in_turn ? 10 : 5);
        was(0);
        if (!in_turn)
            MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        else if (rank < size - 1)
            MPI_Send(&x, 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
        was(1);
    }
    printf("rank %d outside %.0f of %.0f inside %.0f of %.0f ms\n", rank, outside.waited_ms, outside.ms,
           inside.waited_ms, inside.ms);
    MPI_Finalize();
    return 0;
}
