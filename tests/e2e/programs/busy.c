// Two ranks that compute by themselves for so many milliseconds of wall time, or sleep, and meet.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
    const double until = now() + atof(argv[2]) / 1000;
    if (strcmp(argv[1], "sleep") == 0) {
        const struct timespec a_while = {0, 10000000};
        while (now() < until) nanosleep(&a_while, NULL);
    } else {
        while (now() < until) continue;
    }
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
