// A plugin that uses MPI: CALLS Allreduces of 12 bytes here and, if it is built WITH_HELPER, as many Bcasts of 40
// bytes in a second library, which has MPI calls but no dependency on an MPI library of its own.
#include <mpi.h>
#include <stdio.h>

void helper(int calls);

int run(int calls) {
    int rank, size, in[3] = {1, 2, 3}, out[3], length;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_library_version(version, &length);
    for (int i = 0; i < calls; ++i) MPI_Allreduce(in, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#ifdef WITH_HELPER
    helper(calls);
#endif
    if (rank == 0) printf("plugin: %d ranks, %.4s, sums %d %d %d\n", size, version, out[0], out[1], out[2]);
    fflush(stdout);
    MPI_Finalize();
    return out[2] == 3 * size ? 0 : 4;
}
