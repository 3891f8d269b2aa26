// Ranks whose calls can never match: they hang, for SECONDS, until a thread ends them all. Those of "swapped" match by
// luck, and of "none" rightly.
//   mismatch KIND SECONDS
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* end_all(void* seconds) {
    sleep((unsigned)atoi(seconds));
    _exit(3);
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    int rank, size, sum = 0, level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 3; ++i) MPI_Barrier(MPI_COMM_WORLD);
    pthread_t thread;
    pthread_create(&thread, NULL, end_all, argv[2]);
    if (strcmp(argv[1], "collectives") == 0) {
        if (rank == 0)
            MPI_Barrier(MPI_COMM_WORLD);  // the line of rank 0
        else
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);  // the line of the others
    } else if (strcmp(argv[1], "finalize") == 0) {
        if (rank != 0) MPI_Barrier(MPI_COMM_WORLD);  // the line that hangs
    } else if (strcmp(argv[1], "receive") == 0) {
        if (rank == 0) MPI_Recv(&sum, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // the line that waits
    } else if (strcmp(argv[1], "roots") == 0) {
        static int many[1 << 20];
        MPI_Bcast(many, 1 << 20, MPI_INT, rank == 0, MPI_COMM_WORLD);  // the line of different roots
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(argv[1], "tags") == 0) {
        if (rank == 0) {
            MPI_Ssend(&sum, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);  // the line that sends
        } else {
            MPI_Request request;
            MPI_Irecv(&sum, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &request);  // the line that posts
            MPI_Wait(&request, MPI_STATUS_IGNORE);                        // the line of the wait
        }
    } else if (strcmp(argv[1], "communicators") == 0) {
        MPI_Comm other;
        MPI_Comm_dup(MPI_COMM_WORLD, &other);
        MPI_Barrier(rank == 0 ? other : MPI_COMM_WORLD);  // the line of two communicators
    } else if (strcmp(argv[1], "swapped") == 0) {
        // Messages so small need no partner, and match by their tags.
        if (rank == 0) MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);      // the line of the broadcast
        MPI_Reduce(&rank, &level, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);  // the line of the reduction
        if (rank != 0) MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
