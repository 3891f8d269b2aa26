// Two ranks; one message of 3 GiB (3 x a 1 GiB type: the count fits an int), then 3 x 1 GiB, then one byte.
// The sender's pages are never written, so they cost no memory; only the receiver needs 3 GiB.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    const size_t gib = (size_t)1 << 30;
    int rank;
    MPI_Datatype block;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(1 << 30, MPI_CHAR, &block);
    MPI_Type_commit(&block);
    char* buffer = malloc(3 * gib);
    if (!buffer) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < 2; ++i) {
        const int messages = i == 0 ? 1 : 3, blocks = i == 0 ? 3 : 1;
        for (int m = 0; m < messages; ++m) {
            if (rank == 0) MPI_Send(buffer, blocks, block, 1, 0, MPI_COMM_WORLD);
            if (rank == 1) MPI_Recv(buffer, blocks, block, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    if (rank == 0) MPI_Send(buffer, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(buffer, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) printf("three_gib: sent\n");
    free(buffer);
    MPI_Type_free(&block);
    MPI_Finalize();
    return 0;
}
