/* A program whose floating point is its own: it unmasks every trap, rounds upwards, and looks at its sticky flags
   around each call. It prints what it sees, which must not depend on who is preloaded. usage: traps before|after|never
   CALLS */
#define _GNU_SOURCE
#include <fenv.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;
static void say(const char* where) {
    const int flags = fetestexcept(FE_ALL_EXCEPT);
    printf("%d %s: flags %#x, traps %#x, rounding %#x\n", rank, where, flags, fegetexcept(), fegetround());
    fflush(stdout);
    feclearexcept(FE_ALL_EXCEPT);
}

int main(int argc, char** argv) {
    const char* when = argc > 1 ? argv[1] : "never";
    const int calls = argc > 2 ? atoi(argv[2]) : 100;
    const int traps = argc > 3 ? FE_ALL_EXCEPT & ~FE_INEXACT : FE_ALL_EXCEPT;
    double mine = 1, sum = 0;
    fesetround(FE_UPWARD);
    feclearexcept(FE_ALL_EXCEPT);
    if (strcmp(when, "before") == 0) feenableexcept(traps);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    say("after MPI_Init");
    if (strcmp(when, "after") == 0) feenableexcept(traps);
    for (int i = 0; i < calls; ++i) {
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Sendrecv(&mine, 1, MPI_DOUBLE, rank, 0, &sum, 1, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i == calls / 2) usleep(1300000); /* the helper thread writes meanwhile */
    }
    say("after the calls");
    MPI_Finalize();
    say("after MPI_Finalize");
    return 0;
}
