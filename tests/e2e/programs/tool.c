// A profiling tool as people write them: counts MPI_Send, MPI_Recv and MPI_Allreduce, and calls MPI_Barrier's profiling
// twin itself. At the end every rank appends one line to $TOOL_FILE.<rank>. Preloaded, or linked into a program.
// Like most of them it keeps MPI_Init and MPI_Finalize to itself.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long sends, receives, reductions, bytes;

int MPI_Init(int* argc, char*** argv) { return PMPI_Init(argc, argv); }

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    int size;
    ++sends;
    PMPI_Type_size(type, &size);
    bytes += (long)count * size;
    return PMPI_Send(buffer, count, type, dest, tag, comm);
}

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
    ++receives;
    return PMPI_Recv(buffer, count, type, source, tag, comm, status);
}

// Tools that find the slowest rank put a barrier in front; it is theirs, not the program's.
int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    ++reductions;
    PMPI_Barrier(comm);
    return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Finalize(void) {
    char path[512];
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s.%d", getenv("TOOL_FILE"), rank);
    FILE* file = fopen(path, "a");
    if (file) {
        fprintf(file, "%ld sends %ld receives %ld reductions %ld bytes\n", sends, receives, reductions, bytes);
        fclose(file);
    }
    return PMPI_Finalize();
}
