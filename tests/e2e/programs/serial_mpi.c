/* A serial stand-in for MPI, as programs bring one along that run with and without MPI: every function for one process,
   in words of our own. Its handles are of no MPI's ABI, it has no PMPI_ names, and what it does not need it leaves
   undefined. cases/foreign_names.py builds it as a shared library and links serial_program.c with it. */
#include "serial_mpi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int is_begun, is_over;
static const size_t sizes[] = {1, 4, 8};

static void copy(const void* from, void* to, int count, Type type) {
    if (from != to && (long)from != IN_PLACE) memmove(to, from, (size_t)count * sizes[type]);
}

/* C: the arguments of MPI, or fewer. */
int MPI_Init(void* argc, void* argv) {
    (void)argc, (void)argv;
    is_begun = 1;
    return 0;
}
int MPI_Initialized(int* flag) {
    *flag = is_begun;
    return 0;
}
int MPI_Comm_rank(Comm comm, int* rank) {
    (void)comm;
    *rank = 0;
    return 0;
}
int MPI_Comm_size(Comm comm, int* size) {
    (void)comm;
    *size = 1;
    return 0;
}
int MPI_Barrier(Comm comm) {
    (void)comm;
    return 0;
}
int MPI_Bcast(void* buffer, int count, Type type, int root, Comm comm) {
    (void)buffer, (void)count, (void)type, (void)root, (void)comm;
    return 0;
}
int MPI_Allreduce(const void* from, void* to, int count, Type type, Op op, Comm comm) {
    (void)op, (void)comm;
    copy(from, to, count, type);
    return 0;
}
int MPI_Allgather(const void* from, int n, Type type, void* to, int m, Type other, Comm comm) {
    (void)m, (void)other, (void)comm;
    copy(from, to, n, type);
    return 0;
}
int MPI_Comm_dup(Comm comm, Comm* new_comm) {
    *new_comm = comm + 1;
    return 0;
}
int MPI_Comm_free(Comm* comm) {
    *comm = 0;
    return 0;
}
int MPI_Send(const void* buffer, int count, Type type, int dest, int tag, Comm comm) {
    (void)buffer, (void)count, (void)type, (void)dest, (void)tag, (void)comm;
    puts("MPI_Send: nobody is there");
    return 7;
}
int MPI_Wait(Request* request, void* status) {
    (void)status;
    request->id = 0;
    return 0;
}
int MPI_Finalize(void) {
    is_over = 1;
    return 0;
}
int MPI_Abort(Comm comm, int code) {
    (void)comm;
    exit(code);
}

/* Fortran: by reference, names with one underscore or two, and one function whose last argument nobody passes. */
void mpi_init_(int* error) {
    is_begun = 1;
    *error = 0;
}
void mpi_comm_rank__(int* comm, int* rank, int* error) {
    (void)comm;
    *rank = 0;
    *error = 0;
}
void mpi_comm_size_(int* comm, int* size, int* error) {
    (void)comm;
    *size = 1;
    *error = 0;
}
void mpi_allreduce_(const void* from, void* to, int* count, int* type, int* op, int* comm, int* error) {
    (void)op, (void)comm;
    copy(from, to, *count, *type);
    *error = 0;
}
void mpi_bcast_(void* buffer, int* count, int* type, int* root, int* comm, int* error) {
    (void)buffer, (void)count, (void)type, (void)root, (void)comm;
    *error = 0;
}
void mpi_barrier_(int* comm) { (void)comm; }
void mpi_finalize_(int* error) {
    is_over = 1;
    *error = 0;
}
void mpi_abort_(int* comm, int* code) {
    (void)comm;
    exit(*code);
}
