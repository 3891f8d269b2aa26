// Marks iterations of known lengths and prints how long each took, on all ranks, by its own clock: most are short, one
// in eight three times as long, with some scatter. usage: iterations COUNT
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../../include/mpiprof.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
    const int count = argc > 1 ? atoi(argv[1]) : 100;
    int rank;
    double* lengths = malloc((size_t)count * sizeof *lengths);
    MPI_Init(&argc, &argv);
    double before = now();  // the first iteration begins when MPI does
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    srand(1 + (unsigned)rank);
    for (int i = 0; i < count; ++i) {
        const double wanted = (i % 8 == 7 ? 0.003 : 0.001) * (1 + rand() % 400 / 1000.0);
        while (now() - before < wanted) {
        }
        mpiprof_mark(32);
        const double after = now();
        lengths[i] = after - before;
        before = after;
    }
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double* all = malloc((size_t)(count * ranks) * sizeof *all);
    MPI_Gather(lengths, count, MPI_DOUBLE, all, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < count * ranks; ++i) printf("%.9f\n", all[i]);
    free(all);
    free(lengths);
    MPI_Finalize();
    return 0;
}
