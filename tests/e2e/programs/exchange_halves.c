/* Each rank of one half of the world exchanges 1 MiB with its partner in the other half, as often as argv[1] says: all
 * of it goes between nodes where each half has one. For several_nodes.py. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    enum { bytes = 1 << 20 };
    int rank, size, i;
    const int times = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int partner = (rank + size / 2) % size;
    char* out = calloc(bytes, 1);
    char* in = calloc(bytes, 1);
    for (i = 0; i < times; ++i)
        MPI_Sendrecv(out, bytes, MPI_CHAR, partner, 0, in, bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("exchanged %d times\n", times);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
