/* Marks its set-up before MPI begins, and iterations behind. */
#include <mpi.h>
#include <unistd.h>

#include "../../../include/mpiprof.h"

int main(int argc, char** argv) {
    int one = 1, all = 0;
    mpiprof_label("model", "resnet50");
    mpiprof_begin("set up");
    usleep(300000);
    MPI_Init(&argc, &argv);
    mpiprof_end("set up");
    for (int i = 0; i < 10; ++i) {
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        mpiprof_mark(1);
    }
    MPI_Finalize();
    return all < 1;
}
