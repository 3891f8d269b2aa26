// Steps of 5 ms, a reduction each, for SECONDS; then rank 0 prints how many profiles lie here and how many threads it
// has. usage: lasting SECONDS [kill|abort]   (how it ends, if not by MPI_Finalize)
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char** argv) {
    int rank;
    double one = 1, sum, passed;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double began = MPI_Wtime();
    do {
        struct timespec step = {0, 5000000};
        nanosleep(&step, NULL);
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        passed = MPI_Wtime() - began;
        MPI_Bcast(&passed, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    } while (passed < atof(argv[1]));
    if (rank == 0) {
        char command[200];
        snprintf(command, sizeof command,
                 "env -u LD_PRELOAD sh -c 'ls -d mpi_profile.*.[0-9] 2>/dev/null | wc -l; ls /proc/%d/task | wc -l'",
                 (int)getpid());
        fflush(stdout);
        if (system(command)) return 9;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    // A launcher drops at an abort what it has not passed on by then.
    if (argc > 2) usleep(300000);
    if (argc > 2 && !strcmp(argv[2], "kill")) raise(SIGKILL);
    if (argc > 2 && !strcmp(argv[2], "abort")) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Finalize();
    return 0;
}
