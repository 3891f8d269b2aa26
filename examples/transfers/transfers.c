// How fast does data move between two ranks? Rank 0 sends, rank 1 receives, and both tell the clock when they were
// there: a benchmark as people write it, whose lines mpiprof-report transfers prints for any program.
// usage: transfers [MB [REPEATS]], on two ranks of one machine, which have one clock
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long long now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1000000000LL * t.tv_sec + t.tv_nsec;
}

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const double megabytes = argc > 1 ? atof(argv[1]) : 100;
    const int bytes = (int)(1e6 * megabytes), repeats = argc > 2 ? atoi(argv[2]) : 4;
    char* data = malloc(bytes);
    memset(data, 1, bytes);
    for (int i = 0; i < repeats; ++i) {
        long long there, sender_there;
        MPI_Barrier(MPI_COMM_WORLD);
        there = now_ns();
        if (rank == 0) {
            MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Send(&there, 1, MPI_LONG_LONG, 1, 1, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            const long long done = now_ns();
            MPI_Recv(&sender_there, 1, MPI_LONG_LONG, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            const double ns = (double)(done - (sender_there > there ? sender_there : there));
            printf("Process %d transferred %g MB in %.1f ms (%.1f MB/sec)\n", rank, megabytes, ns / 1e6,
                   bytes / ns * 1e3);
        }
    }
    free(data);
    MPI_Finalize();
    return 0;
}
