// All ranks but the last wait in a barrier that the last one enters SECONDS later, or does not: it kills itself.
//   waits SECONDS [kill]
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline __attribute__((always_inline)) void wait_for_all(void) {
    MPI_Barrier(MPI_COMM_WORLD);  // the line that hangs
}

int main(int argc, char** argv) {
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 5; ++i) wait_for_all();
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == size - 1) {
        sleep((unsigned)atoi(argv[1]));
        if (argc > 2 && strcmp(argv[2], "kill") == 0) raise(SIGKILL);
    }
    wait_for_all();
    MPI_Finalize();
    return 0;
}
