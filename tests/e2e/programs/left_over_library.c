// A library that leaves to the end of the process what it has made.
#include <mpi.h>

void library_leaves(void) {
    static int buffer;
    static MPI_Request request;
    static MPI_Comm copy;
    static MPI_Datatype type;
    MPI_Irecv(&buffer, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &request);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Barrier(copy);
    MPI_Barrier(copy);
    MPI_Type_contiguous(3, MPI_INT, &type);
}
