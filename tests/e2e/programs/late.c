// Rank 1 comes late to each of five Allreduces, on its half of the world and on the world in turn.
//   late MILLISECONDS [pause]   all but rank 0 stop recording before the fourth
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc < 2) return 2;
    const useconds_t late = 1000 * (useconds_t)atoi(argv[1]);
    int rank, one = 1, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    for (int i = 0; i < 5; ++i) {
        if (i == 3 && argc > 2 && strcmp(argv[2], "pause") == 0 && rank != 0) MPI_Pcontrol(0);
        if (rank == 1) usleep(late);
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
