// Requests that one thread posts, or sets up, and another one starts and waits for. Two ranks.
// usage: handed_over ROUNDS
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { large = 100000 };

static int rank, rounds, in[large], out[large];
static MPI_Request requests[2], persistent[2];
static pthread_barrier_t turn;

static void* waits(void* unused) {
    (void)unused;
    for (int round = 0; round < rounds; ++round) {
        pthread_barrier_wait(&turn);  // they are posted
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Startall(2, persistent);
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

int main(int argc, char** argv) {
    int level;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "handed_over: no MPI_THREAD_MULTIPLE\n");
        return 77;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    rounds = atoi(argv[1]);
    const int other = 1 - rank;
    MPI_Recv_init(in, 4, MPI_INT, other, 2, MPI_COMM_WORLD, &persistent[0]);
    MPI_Send_init(out, 4, MPI_INT, other, 2, MPI_COMM_WORLD, &persistent[1]);
    pthread_barrier_init(&turn, NULL, 2);
    pthread_create(&thread, NULL, waits, NULL);
    for (int round = 0; round < rounds; ++round) {
        MPI_Irecv(in, large, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, large, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[1]);
        pthread_barrier_wait(&turn);
        pthread_barrier_wait(&turn);  // the persistent ones are started
        MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    }
    pthread_join(thread, NULL);
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
    MPI_Finalize();
    return 0;
}
