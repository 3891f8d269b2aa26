/* What bench/memory.c calls and bench/memory_mpi.c answers, as MPICH's ABI has it. No mpi.h: the program runs where no
 * MPI is. */
#pragma once

enum {
    world = 0x44000000,
    world_group = 0x48000000,
    request_null = 0x2c000000,
    type_double = 0x4c00080b,
    op_sum = 0x58000003,
    ranks = 4097, /* of which this is number 0 */
    first_dup = 0x84000000,
    first_split = 0x84010000,
    reordered = 0x84020000, /* communicators; their groups are these + group_of */
    group_of = 0x04000000,
};
#define NO_STATUS ((int*)1)
#define NO_STATUSES ((int*)1)

int MPI_Init(int* argc, char*** argv);
int MPI_Finalize(void);
int MPI_Send(const void* buffer, int count, int type, int dest, int tag, int comm);
int MPI_Recv(void* buffer, int count, int type, int source, int tag, int comm, int* status);
int MPI_Isend(const void* buffer, int count, int type, int dest, int tag, int comm, int* request);
int MPI_Irecv(void* buffer, int count, int type, int source, int tag, int comm, int* request);
int MPI_Waitall(int count, int* requests, int* statuses);
int MPI_Allreduce(const void* from, void* to, int count, int type, int op, int comm);
int MPI_Bcast(void* buffer, int count, int type, int root, int comm);
int MPI_Barrier(int comm);
int MPI_Comm_dup(int comm, int* made);
int MPI_Comm_split(int comm, int color, int key, int* made); /* color 0: everybody, in the opposite order of rank */
