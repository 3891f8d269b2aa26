// CALLS times one 8-byte Sendrecv around the ring, a Barrier, one line from rank 0, and an end of the user's choice.
// usage: ring CALLS [finalize|return3|exit5|abort7|segv|kill9|sleep [PAUSE_MS]]   (all but the first end every rank
// that way, after a pause)
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void end(const char* how) {
    if (strcmp(how, "exit5") == 0) exit(5);
    if (strcmp(how, "abort7") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(how, "segv") == 0) raise(SIGSEGV);
    if (strcmp(how, "kill9") == 0) kill(getpid(), SIGKILL);
    if (strcmp(how, "sleep") == 0) sleep(600);
}

int main(int argc, char** argv) {
    const int calls = argc > 1 ? atoi(argv[1]) : 10;
    const char* how = argc > 2 ? argv[2] : "finalize";
    int rank, size;
    long out, in = 0, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < calls; ++i) {
        out = rank + i;
        MPI_Sendrecv(&out, 1, MPI_LONG, (rank + 1) % size, 0, &in, 1, MPI_LONG, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += in;
    }
    if (rank == 0) {
        printf("ring: %d ranks, %d calls, sum %ld\n", size, calls, sum);
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    // A launcher that kills drops what it has not yet forwarded, and the written store what it has not yet written.
    if (strcmp(how, "finalize") != 0) usleep((argc > 3 ? atoi(argv[3]) : 200) * 1000);
    end(how);
    MPI_Finalize();
    return strcmp(how, "return3") == 0 ? 3 : 0;
}
