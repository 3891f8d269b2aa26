/* Sets a locale in one of the ways that programs have: for the whole process before MPI_Init, for one thread, or
   between two calls. Says on stdout how it then writes one and a half. */
#define _GNU_SOURCE
#include <locale.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "";
    const char* name = argc > 2 ? argv[2] : "C";
    if (strcmp(how, "before") == 0 && !setlocale(LC_ALL, name)) return 77;
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double value = rank + 0.5, sum = 0;
    char text[3000] = {0};
    for (int i = 0; i < 2000; ++i) MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(how, "later") == 0 && !setlocale(LC_NUMERIC, name)) return 77;
    if (strcmp(how, "thread") == 0) {
        locale_t locale = newlocale(LC_ALL_MASK, name, (locale_t)0);
        if (!locale) return 77;
        uselocale(locale);
    }
    for (int i = 0; i < 3; ++i) MPI_Bcast(text, 1 + 999 * i, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%.1f\n", 1.5);
    MPI_Finalize();
    return 0;
}
