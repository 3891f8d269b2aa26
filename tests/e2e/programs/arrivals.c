// Steps of four collectives to which each rank comes after a time of its own; rank LATE comes last to most Allreduces.
// At the end rank 0 says how long the ranks waited in each, from when all of them entered on the clock that all nodes
// share, and how often each came last.
//   arrivals STEPS LATE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { calls = 4 };
static const char* const names[calls] = {"MPI_Allreduce", "MPI_Barrier", "MPI_Bcast", "MPI_Reduce"};

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void rest(long long ns) {
    const struct timespec t = {ns / 1000000000, ns % 1000000000};
    nanosleep(&t, NULL);
}

static void make(int call, int step, int size) {
    double one[64] = {1}, sum[64];
    if (call == 0) MPI_Allreduce(one, sum, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (call == 1) MPI_Barrier(MPI_COMM_WORLD);
    if (call == 2) MPI_Bcast(one, 64, MPI_DOUBLE, step % size, MPI_COMM_WORLD);
    if (call == 3) MPI_Reduce(one, sum, 64, MPI_DOUBLE, MPI_SUM, step % size, MPI_COMM_WORLD);
}

// All ranks' entries and exits of one call, by rank and step.
static void say(int call, const long long* in, const long long* out, int size, int steps) {
    long long waited = 0, inside = 0;
    int* times_last = calloc(size, sizeof *times_last);
    for (int step = 0; step < steps; ++step) {
        int last = 0;
        for (int rank = 1; rank < size; ++rank)
            if (in[rank * steps + step] > in[last * steps + step]) last = rank;
        const int awaited = call == 2 ? step % size : last;
        for (int rank = 0; rank < size; ++rank) {
            const long long entered = in[rank * steps + step], time = out[rank * steps + step] - entered;
            // Of a reduction only its root has to wait for all.
            const long long wait = call == 3 && rank != step % size ? 0 : in[awaited * steps + step] - entered;
            waited += wait < 0 ? 0 : wait > time ? time : wait;
            inside += time;
        }
        times_last[last]++;
    }
    printf("%s waited %lld inside %lld", names[call], waited / size, inside / size);
    for (int rank = 0; rank < size; ++rank)
        printf(" last %d %d times%s", rank, times_last[rank], rank + 1 < size ? "," : "\n");
    free(times_last);
}

int main(int argc, char** argv) {
    int rank = 0, size = 0;
    MPI_Init(&argc, &argv);
    if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int steps = atoi(argv[1]), late = atoi(argv[2]);
    long long *in = calloc(steps * calls, sizeof *in), *out = calloc(steps * calls, sizeof *out);
    srand(rank + 1);
    for (int step = 0; step < steps; ++step)
        for (int call = 0; call < calls; ++call) {
            rest(rand() % 400000 + (call == 0 && rank == late ? 500000 : 0));
            in[call * steps + step] = now();
            make(call, step, size);
            out[call * steps + step] = now();
        }
    long long *all_in = calloc(size * steps, sizeof *all_in), *all_out = calloc(size * steps, sizeof *all_out);
    for (int call = 0; call < calls; ++call) {
        MPI_Gather(in + call * steps, steps, MPI_LONG_LONG, all_in, steps, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
        MPI_Gather(out + call * steps, steps, MPI_LONG_LONG, all_out, steps, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
        if (rank == 0) say(call, all_in, all_out, size, steps);
    }
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
