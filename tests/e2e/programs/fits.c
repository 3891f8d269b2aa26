/* Moves something and then takes so much memory as it is told, all of it at once: what is left of a limit of the
   user's. usage: fits show (the most address space and data that this process had, in KiB) | fits MIB */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long kib(const char* label) {
    char line[256];
    long value = 0;
    FILE* file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, label, strlen(label))) sscanf(line + strlen(label), "%ld", &value);
    if (file) fclose(file);
    return value;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    double one = 1, sum;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; ++i) MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (argc > 1 && !strcmp(argv[1], "show")) {
        if (rank == 0) printf("%ld %ld\n", kib("VmPeak:"), kib("VmData:"));
    } else {
        const size_t bytes = (size_t)atol(argv[1]) << 20;
        char* memory = malloc(bytes);
        if (!memory) {
            printf("no memory\n");
            fflush(stdout);
            MPI_Abort(MPI_COMM_WORLD, 9);
        }
        memset(memory, 1, bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) printf("fits %d\n", memory[bytes / 2]);
    }
    MPI_Finalize();
    return 0;
}
