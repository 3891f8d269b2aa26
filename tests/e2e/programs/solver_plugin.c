/* A plug-in of plugins.c: CALLS to MPI from a function of its own NAME, all else of one shape. */
#include <mpi.h>

static __attribute__((noinline)) void NAME(int calls) {
    double in = 1, out;
    for (int i = 0; i < calls; ++i) MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

void step(int calls) { NAME(calls); }
