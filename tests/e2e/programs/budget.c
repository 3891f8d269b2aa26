// Steps in which rank r computes for 2 + 2 r ms of wall time, then all meet. Each rank says what it measured itself, in
// ns: from the end of MPI_Init to MPI_Finalize, outside MPI and inside.
//   budget STEPS
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    const long long began = now();
    if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long long inside = 0;
    for (int step = atoi(argv[1]); step > 0; --step) {
        const long long until = now() + (2 + 2 * rank) * 1000000LL;
        while (now() < until) continue;
        int one = 1, sum = 0;
        const long long before = now();
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        inside += now() - before;
    }
    const long long all = now() - began;
    printf("rank %d all %lld outside %lld inside %lld\n", rank, all, all - inside, inside);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
