// Messages of every kind around a ring, whose sizes tell the step that they belong to; regions, iterations, a call that
// fails. usage: traced STEPS [hang]: rank 0 sleeps at the end instead of returning from MPI
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../include/mpiprof.h"

static char out[4096], in[4096], more[4096];

int main(int argc, char** argv) {
    int rank, size, steps = argc > 1 ? atoi(argv[1]) : 10, done;
    MPI_Request r[2];
    MPI_Message message;
    MPI_Status status;
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    mpiprof_begin("steps");
    for (int step = 0; step < steps; ++step) {
        const int n = 1 + step % 1000;
        mpiprof_begin("exchange");
        MPI_Irecv(in, n, MPI_CHAR, from, 7, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out, n, MPI_CHAR, to, 7, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Sendrecv(out, n, MPI_CHAR, to, 1, in, sizeof in, MPI_CHAR, from, MPI_ANY_TAG, other, MPI_STATUS_IGNORE);
        MPI_Irecv(in, n, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[0]);
        MPI_Send(out, n, MPI_CHAR, to, 9, MPI_COMM_WORLD);
        for (done = 0; !done;) MPI_Test(&r[0], &done, &status);
        MPI_Isend(out, n, MPI_CHAR, to, 3, MPI_COMM_WORLD, &r[0]);
        MPI_Recv(in, sizeof in, MPI_CHAR, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        mpiprof_end("exchange");
        MPI_Allreduce(in, more, n, MPI_CHAR, MPI_MAX, step % 2 ? MPI_COMM_WORLD : other);
        mpiprof_mark(n);
    }
    mpiprof_end("steps");
    MPI_Send_init(out, 5, MPI_CHAR, to, 5, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(in, 5, MPI_CHAR, from, 5, MPI_COMM_WORLD, &r[1]);
    for (int i = 0; i < 3; ++i) {
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Isend(out, 11, MPI_CHAR, to, 11, MPI_COMM_WORLD, &r[0]);
    MPI_Mprobe(from, 11, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(in, 11, MPI_CHAR, &message, &status);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Send(out, 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Send(out, 1, MPI_CHAR, size + 5, 0, MPI_COMM_WORLD);
    if (rank == 0 && argc > 2 && strcmp(argv[2], "hang") == 0) sleep(600);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&other);
    MPI_Finalize();
    if (rank == 0) printf("traced: done\n");
    return 0;
}
