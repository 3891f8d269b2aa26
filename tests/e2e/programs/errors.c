// Makes calls fail in every way that returns an error and books them: as errors, not as calls. Prints each error's
// class, which must not depend on who watches, and compares its code with the one that the user's error handler got
// (MPICH's codes differ from run to run). Between the failures it makes calls that succeed, whose counts must not
// suffer. usage: errors PREFIX     (PREFIX.<rank>.csv the calls, PREFIX.errors.<rank>.csv the errors)
#include <mpi.h>

#include "book.h"

static int rank, size, wrong, handled, handled_code;
static struct entry failures[64];
static int failures_used;

static void failed(const char* call, int code) {
    int class = -1, i = 0;
    MPI_Error_class(code, &class);
    expect("MPI_Error_class", 0);
    if (code == MPI_SUCCESS || (handled_code && handled_code != code)) ++wrong;
    if (rank == 0) printf("%s: class %d, handlers called %d\n", call, class, handled);
    handled_code = 0;
    while (i < failures_used && strcmp(failures[i].call, call) != 0) ++i;
    if (i == failures_used) failures[failures_used++] = (struct entry){call, 0, 0, 0};
    ++failures[i].calls;
}
#define FAILS(call, ...) failed(#call, call(__VA_ARGS__))

static void barrier(MPI_Comm comm) {
    MPI_Barrier(comm);
    expect("MPI_Barrier", 0);
}

static void point_to_point(MPI_Comm comm) {
    int out[8] = {0}, in[8];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    FAILS(MPI_Send, out, 8, MPI_INT, size + 5, 0, comm);
    FAILS(MPI_Send, out, -1, MPI_INT, 0, 0, comm);
    FAILS(MPI_Send, out, 8, MPI_DATATYPE_NULL, 0, 0, comm);
    FAILS(MPI_Send, out, 8, MPI_INT, 0, -77, comm);
    FAILS(MPI_Send, out, 8, MPI_INT, 0, 0, MPI_COMM_NULL);
    FAILS(MPI_Ssend, out, 8, MPI_INT, size, 0, comm);
    FAILS(MPI_Rsend, out, 8, MPI_INT, size, 0, comm);
    FAILS(MPI_Isend, out, 8, MPI_INT, size, 0, comm, &request);
    FAILS(MPI_Irecv, in, 8, MPI_INT, size, 0, comm, &request);
    FAILS(MPI_Recv, in, -3, MPI_INT, 0, 0, comm, &status);
    FAILS(MPI_Recv, in, 8, MPI_INT, size, 0, comm, MPI_STATUS_IGNORE);
    FAILS(MPI_Sendrecv, out, 8, MPI_INT, size, 0, in, 8, MPI_INT, rank, 0, comm, &status);
    FAILS(MPI_Sendrecv_replace, out, 8, MPI_INT, size, 0, rank, 0, comm, MPI_STATUS_IGNORE);
    FAILS(MPI_Probe, size, 0, comm, &status);
    FAILS(MPI_Send_init, out, 8, MPI_INT, size, 0, comm, &request);

    // A message that is too long for its receive: the error is the receiver's, the sender's call is good.
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Isend(out, 8, MPI_INT, next, 5, comm, &request);
    expect("MPI_Isend", 32);
    FAILS(MPI_Recv, in, 5, MPI_INT, previous, 5, comm, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait", 0);
    MPI_Irecv(in, 5, MPI_INT, previous, 6, comm, &request);
    expect("MPI_Irecv", 20);
    barrier(comm);
    MPI_Send(out, 8, MPI_INT, next, 6, comm);
    expect("MPI_Send", 32);
    FAILS(MPI_Wait, &request, &status);
    barrier(comm);
}

static void collectives(MPI_Comm comm) {
    int out[64] = {0}, in[64];
    FAILS(MPI_Bcast, out, -1, MPI_INT, 0, comm);
    FAILS(MPI_Bcast, out, 8, MPI_INT, size, comm);
    FAILS(MPI_Bcast, out, 8, MPI_DATATYPE_NULL, 0, comm);
    FAILS(MPI_Reduce, out, in, 8, MPI_INT, MPI_SUM, -5, comm);
    FAILS(MPI_Reduce, out, in, 8, MPI_INT, MPI_OP_NULL, 0, comm);
    FAILS(MPI_Allreduce, out, in, 8, MPI_DATATYPE_NULL, MPI_SUM, comm);
    FAILS(MPI_Allgather, out, 1, MPI_INT, in, 1, MPI_DATATYPE_NULL, comm);
    FAILS(MPI_Gather, out, 1, MPI_INT, in, 1, MPI_INT, size + 1, comm);
    FAILS(MPI_Scatter, out, 1, MPI_INT, in, 1, MPI_INT, size + 1, comm);
    FAILS(MPI_Alltoall, out, 1, MPI_DATATYPE_NULL, in, 1, MPI_DATATYPE_NULL, comm);
    FAILS(MPI_Scan, out, in, 1, MPI_DATATYPE_NULL, MPI_SUM, comm);
    FAILS(MPI_Barrier, MPI_COMM_NULL);
    FAILS(MPI_Comm_free, &(MPI_Comm){MPI_COMM_NULL});
    FAILS(MPI_Type_free, &(MPI_Datatype){MPI_DATATYPE_NULL});
    MPI_Bcast(out, 8, MPI_INT, 0, comm);
    expect("MPI_Bcast", 32);
    barrier(comm);
}

static void windows_and_files(MPI_Comm comm) {
    double memory[8] = {0}, local[8] = {0};
    MPI_Win win;
    MPI_File file;
    MPI_Datatype type;
    MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, comm, &win);
    expect("MPI_Win_create", 0);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    expect("MPI_Win_set_errhandler", 0);
    MPI_Win_fence(0, win);
    expect("MPI_Win_fence", 0);
    FAILS(MPI_Put, local, 8, MPI_DOUBLE, size + 3, 0, 8, MPI_DOUBLE, win);
    FAILS(MPI_Get, local, 8, MPI_DATATYPE_NULL, 0, 0, 8, MPI_DOUBLE, win);
    MPI_Put(local, 8, MPI_DOUBLE, rank, 0, 8, MPI_DOUBLE, win);
    expect("MPI_Put", 64);
    MPI_Win_fence(0, win);
    expect("MPI_Win_fence", 0);
    MPI_Win_free(&win);
    expect("MPI_Win_free", 0);
    FAILS(MPI_File_open, MPI_COMM_SELF, "there/is/no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    FAILS(MPI_Type_contiguous, -1, MPI_INT, &type);
    barrier(comm);
}

// The handler asks MPI what happened; what it calls is part of the call that failed.
static void handler(MPI_Comm* comm, int* code, ...) {
    char text[MPI_MAX_ERROR_STRING];
    int length, r;
    MPI_Error_string(*code, text, &length);
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    if (r != rank) ++wrong;
    ++handled;
    handled_code = *code;
    (void)comm;
}

static void write_failures(const char* prefix) {
    char path[512];
    snprintf(path, sizeof path, "%s.errors.%d.csv", prefix, rank);
    FILE* file = fopen(path, "w");
    if (!file) exit(9);
    fprintf(file, "rank,call,bin_max_bytes,calls,bytes\n");
    for (int i = 0; i < failures_used; ++i)
        fprintf(file, "%d,%s,0,%llu,0\n", rank, failures[i].call, failures[i].calls);
    fclose(file);
}

int main(int argc, char** argv) {
    MPI_Comm comm;
    MPI_Errhandler own;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect("MPI_Comm_rank", 0);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    expect("MPI_Comm_size", 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    expect("MPI_Comm_set_errhandler", 0);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    expect("MPI_Comm_set_errhandler", 0);
    MPI_Comm_create_errhandler(handler, &own);
    expect("MPI_Comm_create_errhandler", 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect("MPI_Comm_dup", 0);
    for (int own_handler = 0; own_handler < 2; ++own_handler) {
        MPI_Comm_set_errhandler(comm, own_handler ? own : MPI_ERRORS_RETURN);
        expect("MPI_Comm_set_errhandler", 0);
        for (int i = 0; i < 3; ++i) {
            point_to_point(comm);
            collectives(comm);
        }
        windows_and_files(comm);
    }
    MPI_Errhandler_free(&own);
    expect("MPI_Errhandler_free", 0);
    MPI_Comm_free(&comm);
    expect("MPI_Comm_free", 0);
    if (handled == 0) ++wrong;
    if (wrong || rank == 0) printf("errors: rank %d, %d wrong\n", rank, wrong);
    write_book(argv[1], rank);
    write_failures(argv[1]);
    MPI_Finalize();
    return wrong != 0;
}
