// Two ranks; messages around 2 GiB, where the size no longer fits an int: by a count of INT_MAX, by a big type, and
// where MPI has them by large counts. The sender's pages are never written, so they cost no memory.
// usage: two_gib PREFIX
#include <limits.h>
#include <mpi.h>

#include "book.h"

int main(int argc, char** argv) {
    const size_t gib = (size_t)1 << 30;
    int rank;
    MPI_Datatype block;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect("MPI_Comm_rank", 0);
    MPI_Type_contiguous(1 << 30, MPI_CHAR, &block);
    expect("MPI_Type_contiguous", 0);
    MPI_Type_commit(&block);
    expect("MPI_Type_commit", 0);
    char* buffer = malloc(2 * gib + 8);
    if (!buffer) MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0) {
        MPI_Send(buffer, INT_MAX, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        expect("MPI_Send", INT_MAX);
        MPI_Send(buffer, 2, block, 1, 0, MPI_COMM_WORLD);
        expect("MPI_Send", 2 * gib);
    } else {
        MPI_Recv(buffer, INT_MAX, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect("MPI_Recv", INT_MAX);
        MPI_Recv(buffer, 2, block, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect("MPI_Recv", 2 * gib);
    }
    MPI_Bcast(buffer, 2, block, 0, MPI_COMM_WORLD);
    expect("MPI_Bcast", 2 * gib);
#if MPI_VERSION >= 4
    const MPI_Count count = 2 * (MPI_Count)gib + 5;
    if (rank == 0) {
        MPI_Send_c(buffer, count, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        expect("MPI_Send_c", (unsigned long long)count);
    } else {
        MPI_Recv_c(buffer, count, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect("MPI_Recv_c", (unsigned long long)count);
    }
#endif
    free(buffer);
    MPI_Type_free(&block);
    expect("MPI_Type_free", 0);
    write_book(argv[1], rank);
    MPI_Finalize();
    return 0;
}
