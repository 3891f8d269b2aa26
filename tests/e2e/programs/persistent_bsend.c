// Persistent buffered sends that are started again before the receiver takes the last message. Two ranks.
// usage: persistent_bsend ROUNDS
#include <mpi.h>
#include <stdlib.h>

enum { bytes = 16384 };

int main(int argc, char** argv) {
    int rank;
    static char data[bytes];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int rounds = atoi(argv[1]);
    if (rank == 0) {
        const int room = rounds * (bytes + MPI_BSEND_OVERHEAD);
        void* buffer = malloc((size_t)room);
        int size;
        MPI_Request request;
        MPI_Buffer_attach(buffer, room);
        MPI_Bsend_init(data, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
        for (int round = 0; round < rounds; ++round) {
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Request_free(&request);
        MPI_Buffer_detach(&buffer, &size);
        free(buffer);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);  // whose message waits behind none of the others
        for (int round = 0; round < rounds; ++round)
            MPI_Recv(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
