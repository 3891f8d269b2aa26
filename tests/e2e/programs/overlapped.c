// Exchanges that overlap: the next one is posted before the one before is waited for. Rank 0 is late each time, so that
// the other waits for its messages. The sends are small: complete when they are posted. usage: overlapped ROUNDS
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { messages = 3 };

static int in[2][messages], out[messages] = {1, 2, 3};
static MPI_Request requests[2][2 * messages];

static void post(int which, int other) {
    for (int i = 0; i < messages; ++i) {
        MPI_Irecv(&in[which][i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &requests[which][i]);
        MPI_Isend(&out[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &requests[which][messages + i]);
    }
}

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int rounds = atoi(argv[1]), other = 1 - rank;
    post(0, other);
    for (int round = 0; round < rounds; ++round) {
        if (rank == 0) usleep(2000);
        post((round + 1) % 2, other);
        MPI_Waitall(2 * messages, requests[round % 2], MPI_STATUSES_IGNORE);
    }
    MPI_Waitall(2 * messages, requests[rounds % 2], MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return argc < 2;
}
