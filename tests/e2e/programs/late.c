// Rank 1 comes 20 ms late to each of five Allreduces, on its half of the world and on the world in turn.
//   late [pause]   all but rank 0 stop recording before the fourth
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, one = 1, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    for (int i = 0; i < 5; ++i) {
        if (i == 3 && argc > 1 && strcmp(argv[1], "pause") == 0 && rank != 0) MPI_Pcontrol(0);
        if (rank == 1) usleep(20000);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, i % 2 ? half : MPI_COMM_WORLD);
    }
    MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0) printf("%d\n", sum);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
