// Reduces for 1.5 s, on its own, and says how many of the calls lay between two moments (seconds after MPI_Init).
// usage: window BEGIN END
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank, inside = 0, all = 0, in = 1, out;
    MPI_Init(&argc, &argv);
    const double from = atof(argv[1]), to = atof(argv[2]), start = MPI_Wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (double now = 0; now < 1.5; now = MPI_Wtime() - start, ++all) {
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
        inside += now >= from && now < to;
        usleep(1000);
    }
    if (rank == 1) printf("{\"inside\": %d, \"all\": %d}\n", inside, all);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
