// Passes NULL where MPI answers with an error, and prints each error's class: nobody may look there first.
// usage: null openmpi|mpich
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define SHOW(name, ...)                             \
    do {                                            \
        int class = -1;                             \
        MPI_Error_class(name(__VA_ARGS__), &class); \
        printf("%s: %d\n", #name, class);           \
        fflush(stdout);                             \
    } while (0)

int main(int argc, char** argv) {
    int in = 1, flag = 0, index = 0;
    MPI_Request in_flight, none = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Irecv(&in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &in_flight);  // who follows requests has one to follow now
    SHOW(MPI_Wait, NULL, MPI_STATUS_IGNORE);
    SHOW(MPI_Test, NULL, &flag, MPI_STATUS_IGNORE);
    SHOW(MPI_Test, &in_flight, NULL, MPI_STATUS_IGNORE);
    SHOW(MPI_Waitall, 2, NULL, MPI_STATUSES_IGNORE);
    SHOW(MPI_Waitany, 1, &none, NULL, MPI_STATUS_IGNORE);
    SHOW(MPI_Waitsome, 1, NULL, &index, &index, MPI_STATUSES_IGNORE);
    SHOW(MPI_Testall, 1, NULL, &flag, MPI_STATUSES_IGNORE);
    SHOW(MPI_Start, NULL);
    SHOW(MPI_Startall, 1, NULL);
    SHOW(MPI_Request_free, NULL);
    SHOW(MPI_Isend, &in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, NULL);
    SHOW(MPI_Comm_dup, MPI_COMM_WORLD, NULL);
    if (strcmp(argv[1], "mpich") == 0) {  // Open MPI 4.1 looks there itself
        SHOW(MPI_Comm_free, NULL);
        SHOW(MPI_Comm_disconnect, NULL);
    }
    MPI_Cancel(&in_flight);
    MPI_Wait(&in_flight, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
