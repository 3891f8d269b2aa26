// Names its parts and marks its iterations; halo is entered inside solve. Also a program without the profiler: the
// marks do nothing then. usage: regions [pcontrol]: regions in IPM's way, by MPI_Pcontrol
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../../include/mpiprof.h"

static int by_pcontrol;

static void enter(const char* name) {
    if (by_pcontrol)
        MPI_Pcontrol(1, name);
    else
        mpiprof_begin(name);
}
static void leave(const char* name) {
    if (by_pcontrol)
        MPI_Pcontrol(-1, name);
    else
        mpiprof_end(name);
}
static void reduce(int n) {
    int in = 1, out;
    for (int i = 0; i < n; ++i) MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    int rank;
    by_pcontrol = argc > 1 && strcmp(argv[1], "pcontrol") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    reduce(1);
    enter("set up");
    reduce(2);
    leave("set up");
    for (int step = 0; step < 10; ++step) {
        enter("solve");
        reduce(3);
        enter("halo");
        reduce(4);
        usleep(2000);
        leave("halo");
        leave("solve");
        mpiprof_mark(32);
    }
    enter("solve");
    enter("halo");
    reduce(5);
    leave("solve");  // and halo with it
    leave("solve");  // not inside it: said, ignored
    reduce(6);
    if (rank == 0) printf("regions: done\n");
    MPI_Finalize();
    return 0;
}
