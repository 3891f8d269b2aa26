/* A program that is linked with a serial stand-in for MPI (serial_mpi.c). It prints what it gets; what it gets must not
   depend on who is preloaded. usage: serial_program c|fortran|early [finalize|return3|exit5|abort7] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "serial_mpi.h"

static void in_c(const char* how) {
    int rank = -1, size = -1, flag = -1;
    double mine[4] = {1, 2, 3, 4}, all[4] = {0};
    Comm comm = WORLD, copy = 0;
    Request request = {5, {0}};
    if (strcmp(how, "early") == 0) MPI_Barrier(WORLD);
    printf("init %d\n", MPI_Init(NULL, NULL));
    MPI_Initialized(&flag);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    printf("%d of %d, begun %d\n", rank, size, flag);
    for (int i = 0; i < 1000; ++i) {
        MPI_Allreduce(mine, all, 4, 2, 0, comm);
        MPI_Allreduce((void*)(long)IN_PLACE, all, 4, 2, 0, comm);
        MPI_Bcast(all, 4, 2, 0, comm);
        MPI_Allgather(mine, 2, 1, all, 2, 1, comm);
        if (i % 100 == 0) MPI_Comm_dup(comm, &copy), MPI_Barrier(copy), MPI_Comm_free(&copy);
        MPI_Wait(&request, NULL);
    }
    printf("%g %g %g %g, copy %d, request %ld\n", all[0], all[1], all[2], all[3], copy, request.id);
    printf("send %d\n", MPI_Send(mine, 4, 2, 9, 9, comm));
}

static void in_fortran(void) {
    int error = -1, rank = -1, size = -1, world = WORLD, four = 4, eight_bytes = 2, zero = 0;
    double mine[4] = {1, 2, 3, 4}, all[4] = {0};
    mpi_init_(&error);
    mpi_comm_rank__(&world, &rank, &error);
    mpi_comm_size_(&world, &size, &error);
    for (int i = 0; i < 1000; ++i) {
        mpi_allreduce_(mine, all, &four, &eight_bytes, &zero, &world, &error);
        mpi_bcast_(all, &four, &eight_bytes, &zero, &world, &error);
    }
    printf("%d of %d: %g %g %g %g, %d\n", rank, size, all[0], all[1], all[2], all[3], error);
}

int main(int argc, char** argv) {
    const char *how = argc > 1 ? argv[1] : "c", *end = argc > 2 ? argv[2] : "finalize";
    const int is_fortran = strcmp(how, "fortran") == 0;
    int error = 0, world = WORLD, seven = 7;
    if (is_fortran)
        in_fortran();
    else
        in_c(how);
    fflush(stdout);
    if (strcmp(end, "return3") == 0) return 3;
    if (strcmp(end, "exit5") == 0) exit(5);
    if (strcmp(end, "abort7") == 0) {
        if (is_fortran)
            mpi_abort_(&world, &seven);
        else
            MPI_Abort(WORLD, 7);
    }
    if (is_fortran)
        mpi_finalize_(&error);
    else
        MPI_Finalize();
    puts("over");
    return 0;
}
