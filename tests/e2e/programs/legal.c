// Legal programs that careless observers break: arguments that are not significant are what nobody may touch. At least
// three ranks. Books every call.
// usage: legal PREFIX
#include <mpi.h>
#include <stdint.h>

#include "book.h"

#define NOBODY ((void*)(intptr_t)0x10)  // a pointer that must not be followed
#define MUST(condition) \
    if (!(condition)) fprintf(stderr, "legal:%d: rank %d: not %s\n", __LINE__, rank, #condition), ++wrong

static int rank, size, wrong;

static void wait_for(MPI_Request* request) {
    MPI_Wait(request, MPI_STATUS_IGNORE);
    expect("MPI_Wait", 0);
}

// The other side of everything is nobody.
static void null_peers(void) {
    int out[10] = {1}, in[10] = {2}, flag;
    MPI_Status status;
    MPI_Request request;
    MPI_Message message;
    MPI_Send(out, 10, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    expect("MPI_Send", 0);
    MPI_Ssend(out, 10, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    expect("MPI_Ssend", 0);
    MPI_Recv(in, 10, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("MPI_Recv", 0);
    MPI_Recv(in, 10, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    expect("MPI_Recv", 0);
    MUST(status.MPI_SOURCE == MPI_PROC_NULL && in[0] == 2);
    MPI_Sendrecv(out, 10, MPI_INT, MPI_PROC_NULL, 0, in, 10, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv", 0);
    MPI_Sendrecv_replace(in, 10, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    expect("MPI_Sendrecv_replace", 0);
    // A line of ranks: the first has no left, the last has no right neighbour.
    const int left = rank == 0 ? MPI_PROC_NULL : rank - 1, right = rank == size - 1 ? MPI_PROC_NULL : rank + 1;
    MPI_Sendrecv(out, 10, MPI_INT, right, 0, in, 10, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv", 40 * (right >= 0) + 40 * (left >= 0));
    MPI_Isend(out, 10, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
    expect("MPI_Isend", 0);
    wait_for(&request);
    MPI_Irecv(in, 10, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
    expect("MPI_Irecv", 0);
    wait_for(&request);
    MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    expect("MPI_Probe", 0);
    MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    expect("MPI_Iprobe", 0);
    MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
    expect("MPI_Mprobe", 0);
    MUST(message == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(in, 10, MPI_INT, &message, MPI_STATUS_IGNORE);
    expect("MPI_Mrecv", 0);
    request = MPI_REQUEST_NULL;
    wait_for(&request);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    expect("MPI_Waitall", 0);
    MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE);
    expect("MPI_Testall", 0);
}

static void nothing_to_move(void) {
    int zeros[64] = {0}, out, in;
    MPI_Datatype types[64];
    for (int i = 0; i < 64; ++i) types[i] = MPI_INT;
    MPI_Request request;
    MPI_Datatype empty;
    MPI_Isend(NULL, 0, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
    expect("MPI_Isend", 0);
    MPI_Recv(NULL, 0, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("MPI_Recv", 0);
    wait_for(&request);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    expect("MPI_Type_contiguous", 0);
    MPI_Type_commit(&empty);
    expect("MPI_Type_commit", 0);
    MPI_Isend(NULL, 5, empty, rank, 0, MPI_COMM_WORLD, &request);
    expect("MPI_Isend", 0);
    MPI_Recv(NULL, 5, empty, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("MPI_Recv", 0);
    wait_for(&request);
    MPI_Type_free(&empty);
    expect("MPI_Type_free", 0);
    MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
    expect("MPI_Bcast", 0);
    MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    expect("MPI_Reduce", 0);
    MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("MPI_Allreduce", 0);
    MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD);
    expect("MPI_Allgather", 0);
    MPI_Alltoallv(&out, zeros, zeros, MPI_INT, &in, zeros, zeros, MPI_INT, MPI_COMM_WORLD);
    expect("MPI_Alltoallv", 0);
    MPI_Alltoallw(&out, zeros, zeros, types, &in, zeros, zeros, types, MPI_COMM_WORLD);
    expect("MPI_Alltoallw", 0);
}

// What only the root passes; the others pass rubbish.
static void insignificant_arguments(void) {
    int in[64], out[4] = {rank, rank, rank, rank};
    const int root = size - 1, is_root = rank == root;
    int counts[64], places[64];
    for (int i = 0; i < size; ++i) counts[i] = 1, places[i] = i;
    MPI_Gather(out, 1, MPI_INT, is_root ? in : NOBODY, is_root ? 1 : -7, is_root ? MPI_INT : MPI_DATATYPE_NULL, root,
               MPI_COMM_WORLD);
    expect("MPI_Gather", 4);
    MPI_Scatter(is_root ? in : NOBODY, is_root ? 1 : -7, is_root ? MPI_INT : MPI_DATATYPE_NULL, out, 1, MPI_INT, root,
                MPI_COMM_WORLD);
    expect("MPI_Scatter", 4);
    MPI_Gatherv(out, 1, MPI_INT, is_root ? in : NOBODY, is_root ? counts : NOBODY, is_root ? places : NOBODY,
                is_root ? MPI_INT : MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
    expect("MPI_Gatherv", 4);
    MPI_Scatterv(is_root ? in : NOBODY, is_root ? counts : NOBODY, is_root ? places : NOBODY,
                 is_root ? MPI_INT : MPI_DATATYPE_NULL, out, 1, MPI_INT, root, MPI_COMM_WORLD);
    expect("MPI_Scatterv", 4);
    MPI_Reduce(out, is_root ? in : NOBODY, 4, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    expect("MPI_Reduce", 16);
    MPI_Reduce(is_root ? MPI_IN_PLACE : out, is_root ? in : NULL, 4, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    expect("MPI_Reduce", 16);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, MPI_COMM_WORLD);
    expect("MPI_Allgather", 4);
    MPI_Allgatherv(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    expect("MPI_Allgatherv", 4);
    MPI_Alltoall(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, in, 1, MPI_INT, MPI_COMM_WORLD);
    expect("MPI_Alltoall", 4);
    MPI_Alltoallv(MPI_IN_PLACE, NOBODY, NOBODY, MPI_DATATYPE_NULL, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    expect("MPI_Alltoallv", 4);
    MPI_Request request;
    MPI_Ialltoallw(MPI_IN_PLACE, NOBODY, NOBODY, NOBODY, in, counts, (int[64]){0},
                   (MPI_Datatype[64]){MPI_INT, MPI_INT, MPI_INT, MPI_INT}, MPI_COMM_SELF, &request);
    expect("MPI_Ialltoallw", 4);
    wait_for(&request);
}

// Every pair of ranks exchanges another type.
static void mixed_types(void) {
    char out[64 * 16] = {0}, in[64 * 16];
    int counts[64], places[64];
    MPI_Datatype types[64];
    unsigned long long bytes = 0;
    for (int i = 0; i < size; ++i) {
        const int kind = (rank + i) % 3;
        types[i] = kind == 0 ? MPI_CHAR : kind == 1 ? MPI_DOUBLE : MPI_SHORT;
        counts[i] = kind == 0 ? 3 : kind == 1 ? 2 : 0;
        bytes += kind == 0 ? 3 : kind == 1 ? 16 : 0;
        places[i] = 16 * i;
    }
    MPI_Alltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD);
    expect("MPI_Alltoallw", bytes / size);
}

// Absolute addresses: the buffer is MPI_BOTTOM, the type says where everything lies.
static void bottom(void) {
    static int numbers[6];
    double value = rank, sum = -1;
    MPI_Aint places[2], negative;
    MPI_Datatype type, at_value, backwards;
    MPI_Get_address(numbers, &places[0]);
    expect("MPI_Get_address", 0);
    MPI_Get_address(&value, &places[1]);
    expect("MPI_Get_address", 0);
    MPI_Type_create_struct(2, (int[]){6, 1}, places, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &type);
    expect("MPI_Type_create_struct", 0);
    MPI_Type_commit(&type);
    expect("MPI_Type_commit", 0);
    for (int i = 0; i < 6; ++i) numbers[i] = rank == 0 ? i + 10 : 0;
    MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD);
    expect("MPI_Bcast", 32);
    MUST(numbers[5] == 15 && value == 0);
    if (rank == 0) {
        MPI_Send(MPI_BOTTOM, 1, type, 1, 3, MPI_COMM_WORLD);
        expect("MPI_Send", 32);
    } else if (rank == 1) {
        MPI_Recv(MPI_BOTTOM, 1, type, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect("MPI_Recv", 32);
    }
    MPI_Type_create_hindexed(1, (int[]){1}, &places[1], MPI_DOUBLE, &at_value);
    expect("MPI_Type_create_hindexed", 0);
    MPI_Type_commit(&at_value);
    expect("MPI_Type_commit", 0);
    MPI_Gather(MPI_BOTTOM, 1, at_value, rank == 0 ? (void*)(double[64]){0} : NULL, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    expect("MPI_Gather", 8);
    // The extent is negative and larger than 32 bits; the size is 4.
    negative = -((MPI_Aint)5 << 30);
    MPI_Type_create_hindexed(1, (int[]){1}, &negative, MPI_INT, &backwards);
    expect("MPI_Type_create_hindexed", 0);
    MPI_Type_commit(&backwards);
    expect("MPI_Type_commit", 0);
    MPI_Bcast((char*)numbers - negative, 1, backwards, 1, MPI_COMM_WORLD);
    expect("MPI_Bcast", 4);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    expect("MPI_Allreduce", 8);
    MUST(sum == 0);
    MPI_Type_free(&type);
    MPI_Type_free(&at_value);
    MPI_Type_free(&backwards);
    for (int i = 0; i < 3; ++i) expect("MPI_Type_free", 0);
}

// Open MPI looks at the types of all ranks itself; MPICH at those that count.
#ifndef OPEN_MPI
static void types_of_bystanders(MPI_Comm inter, int color, int root, int* out, int* in) {
    const int bystander = rank == 0;
    MPI_Datatype freed, type = MPI_INT;
    MPI_Type_contiguous(3, MPI_INT, &freed);
    expect("MPI_Type_contiguous", 0);
    const MPI_Datatype no_types[] = {MPI_DATATYPE_NULL, freed};
    MPI_Type_free(&freed);
    expect("MPI_Type_free", 0);
    for (int i = 0; i < 6; ++i) {
        MPI_Request request;
        if (bystander) type = no_types[i % 2];
        MPI_Reduce(color ? out : NOBODY, rank == 1 ? in : NOBODY, 4, type, MPI_SUM, root, inter);
        expect("MPI_Reduce", bystander ? 0 : 16);
        MPI_Ireduce(color ? out : NOBODY, rank == 1 ? in : NOBODY, 4, type, MPI_SUM, root, inter, &request);
        expect("MPI_Ireduce", bystander ? 0 : 16);
        wait_for(&request);
#if MPI_VERSION >= 4
        MPI_Reduce_init(color ? out : NOBODY, rank == 1 ? in : NOBODY, 4, type, MPI_SUM, root, inter, MPI_INFO_NULL,
                        &request);
        expect("MPI_Reduce_init", 0);
        MPI_Start(&request);
        expect("MPI_Start", bystander ? 0 : 16);
        wait_for(&request);
        MPI_Request_free(&request);
        expect("MPI_Request_free", 0);
#endif
    }
}
#else
static void types_of_bystanders(MPI_Comm inter, int color, int root, int* out, int* in) {
    (void)inter, (void)color, (void)root, (void)out, (void)in;
}
#endif

// Two groups; the one that a rooted operation does not concern passes what counts for nothing.
static void intercommunicators(void) {
    const int color = rank >= 2, leader = 0;
    MPI_Comm local, inter;
    MPI_Comm_split(MPI_COMM_WORLD, color, rank, &local);
    expect("MPI_Comm_split", 0);
    MPI_Intercomm_create(local, leader, MPI_COMM_WORLD, color ? 0 : 2, 9, &inter);
    expect("MPI_Intercomm_create", 0);
    int out[8] = {rank, 1, 2, 3}, in[64];
    const int root = rank == 1 ? MPI_ROOT : color ? 1 : MPI_PROC_NULL;
    const int bystander = rank == 0;
    for (int i = 0; i < 3; ++i) {
        MPI_Bcast(bystander ? NOBODY : out, 4, MPI_INT, root, inter);
        expect("MPI_Bcast", bystander ? 0 : 16);
        if (color) MUST(out[0] == 1);
        MPI_Reduce(color ? out : NOBODY, rank == 1 ? in : NOBODY, 4, MPI_INT, MPI_SUM, root, inter);
        expect("MPI_Reduce", bystander ? 0 : 16);
    }
    types_of_bystanders(inter, color, root, out, in);
    MPI_Gather(color ? out : NOBODY, 2, MPI_INT, rank == 1 ? in : NOBODY, 2, MPI_INT, root, inter);
    expect("MPI_Gather", bystander ? 0 : 8);
    MPI_Scatter(rank == 1 ? in : NOBODY, 2, MPI_INT, color ? out : NOBODY, 2, MPI_INT, root, inter);
    expect("MPI_Scatter", bystander ? 0 : 8);
    MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, inter);
    expect("MPI_Allgather", 4);
    MPI_Barrier(inter);
    expect("MPI_Barrier", 0);
    MPI_Comm_free(&inter);
    expect("MPI_Comm_free", 0);
    MPI_Comm_free(&local);
    expect("MPI_Comm_free", 0);
    // Not everybody is a member.
    MPI_Comm_split(MPI_COMM_WORLD, rank ? MPI_UNDEFINED : 1, 0, &local);
    expect("MPI_Comm_split", 0);
    MUST((local == MPI_COMM_NULL) == (rank != 0));
    if (rank == 0) {
        MPI_Barrier(local);
        expect("MPI_Barrier", 0);
        MPI_Comm_free(&local);
        expect("MPI_Comm_free", 0);
    }
}

// More communicators at once than anybody keeps in a table.
static void many_communicators(void) {
    static MPI_Comm comms[700];
    int out = 1, in;
    for (int i = 0; i < 700; ++i) {
        MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
        expect("MPI_Comm_dup", 0);
        MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, comms[i]);
        expect("MPI_Allreduce", 4);
    }
    for (int i = 0; i < 700; ++i) {
        MPI_Scan(&out, &in, 1, MPI_INT, MPI_SUM, comms[i]);
        expect("MPI_Scan", 4);
        MPI_Comm_free(&comms[i]);
        expect("MPI_Comm_free", 0);
    }
}

static void windows(void) {
    double local[4] = {0}, *window;
    MPI_Win win;
    MPI_Win_allocate(rank == 0 ? 0 : 64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    expect("MPI_Win_allocate", 0);
    MPI_Win_fence(0, win);
    expect("MPI_Win_fence", 0);
    MPI_Put(local, 4, MPI_DOUBLE, MPI_PROC_NULL, 0, 4, MPI_DOUBLE, win);
    expect("MPI_Put", 0);
    MPI_Get(local, 4, MPI_DOUBLE, MPI_PROC_NULL, 0, 4, MPI_DOUBLE, win);
    expect("MPI_Get", 0);
    MPI_Put(NULL, 0, MPI_DOUBLE, 1, 0, 0, MPI_DOUBLE, win);
    expect("MPI_Put", 0);
    MPI_Put(local, 2, MPI_DOUBLE, 1, 2, 2, MPI_DOUBLE, win);
    expect("MPI_Put", 16);
    MPI_Win_fence(0, win);
    expect("MPI_Win_fence", 0);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    expect("MPI_Win_lock", 0);
    // With MPI_NO_OP the origin's arguments say nothing.
    MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, local, 2, MPI_DOUBLE, 1, 0, 2, MPI_DOUBLE, MPI_NO_OP, win);
    expect("MPI_Get_accumulate", 16);
    MPI_Win_unlock(1, win);
    expect("MPI_Win_unlock", 0);
    MPI_Win_free(&win);
    expect("MPI_Win_free", 0);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect("MPI_Comm_rank", 0);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    expect("MPI_Comm_size", 0);
    if (size < 3) return 9;
    null_peers();
    nothing_to_move();
    insignificant_arguments();
    mixed_types();
    bottom();
    intercommunicators();
    many_communicators();
    windows();
    if (wrong || rank == 0) printf("legal: %d wrong\n", wrong);
    write_book(argv[1], rank);
    MPI_Finalize();
    return wrong != 0;
}
