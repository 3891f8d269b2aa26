// Rank 0 sends 1 MB to rank 1, both wait for a file, and 2 MB follow: for who looks at a running job.
// usage: phases_of_transfers FILE
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char* data = calloc(2, 1000000);
    for (int megabytes = 1; megabytes <= 2; ++megabytes) {
        if (rank == 0)
            MPI_Send(data, megabytes * 1000000, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        else if (rank == 1)
            MPI_Recv(data, megabytes * 1000000, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; megabytes == 1 && argc > 1 && access(argv[1], F_OK) != 0 && i < 2000; ++i) usleep(100000);
    }
    free(data);
    MPI_Finalize();
    return 0;
}
