// Three phases of 0.4 s: every rank computes, all reduce, rank 1 computes while the others wait for it.
//   phases [SECONDS [off]]   the last one takes so long; recording is off in the first
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 2) MPI_Pcontrol(0);
    usleep(400000);
    if (argc > 2) MPI_Pcontrol(1);
    double in[1024] = {0}, out[1024];
    const double begin = MPI_Wtime();
    for (int on = 1; on;) {
        on = MPI_Wtime() - begin < 0.4;
        MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Allreduce(in, out, 1024, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 1) usleep((useconds_t)(1e6 * (argc > 1 ? atof(argv[1]) : 0.4)));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
