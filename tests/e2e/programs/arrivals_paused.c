// 60 Barriers to which rank 1 comes 2 ms late. Rank 0 records neither the second 20 of them nor the third 20; rank 1
// leaves out the third.
#include <mpi.h>
#include <time.h>

static void rest(long us) {
    const struct timespec t = {0, us * 1000};
    nanosleep(&t, NULL);
}

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 60; ++i) {
        if (i == (rank == 0 ? 20 : 40)) MPI_Pcontrol(0);
        if (rank == 1) rest(2000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
