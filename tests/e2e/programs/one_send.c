// Rank 0 sends one small message at a time to rank 1, and waits for each before the next. usage: one_send ROUNDS
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank, value = 7;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int rounds = atoi(argv[1]);
    for (int round = 0; round < rounds; ++round) {
        MPI_Request request;
        if (rank == 0) {
            MPI_Isend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return argc < 2;
}
