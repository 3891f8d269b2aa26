// Makes MPI calls whose number, bytes and sizes are known on every rank, and writes that table as
// expected.<rank>.csv. Every wait and every probe loop books the calls it really made, so that the comparison
// is of every call, exactly. Works with 2 and more ranks. usage: known <prefix of the table> [repetitions]
#include <mpi.h>

#include "book.h"

static int rank, size;
static unsigned long long wrong;  // results that are not what MPI promises: a profiler must not change any

static void must(int condition, int line) {
    if (condition) return;
    ++wrong;
    fprintf(stderr, "known.c:%d: wrong result on rank %d\n", line, rank);
}
#define MUST(condition) must(!!(condition), __LINE__)

static int next_rank(void) { return (rank + 1) % size; }
static int previous_rank(void) { return (rank + size - 1) % size; }

static void wait_for(MPI_Request* request) {
    MPI_Wait(request, MPI_STATUS_IGNORE);
    expect("MPI_Wait", 0);
}

// A ring step with nonblocking receive, so that no Send depends on buffering.
static void ring(void* out, int out_count, void* in, int in_count, MPI_Datatype type, int type_bytes) {
    MPI_Request request;
    MPI_Irecv(in, in_count, type, previous_rank(), 7, MPI_COMM_WORLD, &request);
    expect("MPI_Irecv", (unsigned long long)in_count * type_bytes);  // nothing has arrived yet: the posted size
    MPI_Send(out, out_count, type, next_rank(), 7, MPI_COMM_WORLD);
    expect("MPI_Send", (unsigned long long)out_count * type_bytes);
    wait_for(&request);
}

static void point_to_point(void) {
    char out[5000], in[5000];
    memset(out, rank, sizeof out);
    for (int bytes = 0; bytes <= 5000; bytes = bytes < 16 ? bytes + 1 : bytes * 2 + 1) {
        ring(out, bytes, in, bytes, MPI_CHAR, 1);
        MUST(bytes == 0 || in[bytes - 1] == previous_rank());
    }
    // The same size often: one cell, many calls.
    for (int i = 0; i < 40; ++i) ring(out, 8, in, 8, MPI_CHAR, 1);
}

// PROC_NULL: a call is a call, but nothing moves.
static void messages_to_nobody(void) {
    char out[100] = {0}, in[100];
    MPI_Send(out, 100, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    expect("MPI_Send", 0);
    MPI_Recv(in, 100, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("MPI_Recv", 0);
}

// Wildcards, and a message smaller than the room for it: what arrived counts, with and without a status.
static void messages_from_anybody(void) {
    char out[4096] = {0}, in[4096];
    MPI_Request request;
    for (int ignore = 0; ignore < 2; ++ignore) {
        MPI_Isend(out, 24 + rank, MPI_CHAR, next_rank(), 11, MPI_COMM_WORLD, &request);
        expect("MPI_Isend", 24 + rank);
        MPI_Status status;
        MPI_Recv(in, 4096, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, ignore ? MPI_STATUS_IGNORE : &status);
        expect("MPI_Recv", 24 + previous_rank());
        if (!ignore) {
            int count = -1;
            MPI_Get_count(&status, MPI_CHAR, &count);
            expect("MPI_Get_count", 0);
            MUST(count == 24 + previous_rank() && status.MPI_SOURCE == previous_rank() && status.MPI_TAG == 11);
        }
        wait_for(&request);
    }
}

// Probe until it is there: every call that was made is booked.
static void probes(void) {
    char out[40] = {0}, in[40];
    MPI_Request request;
    MPI_Isend(out, 40, MPI_CHAR, next_rank(), 12, MPI_COMM_WORLD, &request);
    expect("MPI_Isend", 40);
    int flag = 0;
    while (!flag) {
        MPI_Iprobe(previous_rank(), 12, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        expect("MPI_Iprobe", 0);
    }
    MPI_Probe(previous_rank(), 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("MPI_Probe", 0);
    MPI_Recv(in, 40, MPI_CHAR, previous_rank(), 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("MPI_Recv", 40);
    flag = 0;
    while (!flag) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        expect("MPI_Test", 0);
    }
}

// Other ways to send; each matched by a receive that is already posted.
static void kinds_of_sends(void) {
    char out[600] = {0}, in[600];
    MPI_Request request;
    int (*const sends[])(const void*, int, MPI_Datatype, int, int, MPI_Comm) = {MPI_Ssend, MPI_Rsend, MPI_Send};
    const char* const names[] = {"MPI_Ssend", "MPI_Rsend", "MPI_Send"};
    for (int i = 0; i < 3; ++i) {
        MPI_Irecv(in, 600, MPI_CHAR, previous_rank(), 20 + i, MPI_COMM_WORLD, &request);
        expect("MPI_Irecv", 600);
        MPI_Barrier(MPI_COMM_WORLD);
        expect("MPI_Barrier", 0);
        sends[i](out, 600, MPI_CHAR, next_rank(), 20 + i, MPI_COMM_WORLD);
        expect(names[i], 600);
        wait_for(&request);
    }

    MPI_Request both[2];
    MPI_Irecv(in, 70, MPI_CHAR, previous_rank(), 30, MPI_COMM_WORLD, &both[0]);
    expect("MPI_Irecv", 70);
    MPI_Isend(out, 70, MPI_CHAR, next_rank(), 30, MPI_COMM_WORLD, &both[1]);
    expect("MPI_Isend", 70);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    expect("MPI_Waitall", 0);
}

static void exchanges(void) {
    char out[4000], in[4000];
    memset(out, rank, sizeof out);
    MPI_Sendrecv(out, 300, MPI_CHAR, next_rank(), 31, in, 300, MPI_CHAR, previous_rank(), 31, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv", 600);
    // The last rank has no right neighbour, the first no left one: that side counts 0.
    const int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    MPI_Sendrecv(out, 500, MPI_CHAR, right, 32, in, 500, MPI_CHAR, left, 32, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv", (right != MPI_PROC_NULL ? 500 : 0) + (left != MPI_PROC_NULL ? 500 : 0));
    // More room than message, with a status of the caller's and without.
    for (int ignore = 0; ignore < 2; ++ignore) {
        MPI_Status status;
        MPI_Sendrecv(out, 10 + rank, MPI_CHAR, next_rank(), 34, in, 4000, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG,
                     MPI_COMM_WORLD, ignore ? MPI_STATUS_IGNORE : &status);
        expect("MPI_Sendrecv", 10 + rank + 10 + previous_rank());
        MUST(ignore || status.MPI_TAG == 34);
    }
    MPI_Sendrecv_replace(out, 200, MPI_CHAR, next_rank(), 33, previous_rank(), 33, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv_replace", 400);
}

// Messages that are matched first, requests that are used again, and the other ways to wait.
static void requests(void) {
    char out[900], in[900];
    MPI_Request pair[2];
    MPI_Message message;
    int flag = 0, index, count, indices[2];

    MPI_Isend(out, 90, MPI_CHAR, next_rank(), 40, MPI_COMM_WORLD, &pair[0]);
    expect("MPI_Isend", 90);
    MPI_Mprobe(previous_rank(), 40, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    expect("MPI_Mprobe", 0);
    MPI_Mrecv(in, 900, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    expect("MPI_Mrecv", 90);
    wait_for(&pair[0]);

    // Persistent requests: a start books what it was set up with.
    MPI_Send_init(out, 50, MPI_CHAR, next_rank(), 41, MPI_COMM_WORLD, &pair[0]);
    expect("MPI_Send_init", 0);
    MPI_Recv_init(in, 50, MPI_CHAR, previous_rank(), 41, MPI_COMM_WORLD, &pair[1]);
    expect("MPI_Recv_init", 0);
    for (int i = 0; i < 3; ++i) {
        MPI_Startall(2, pair);
        expect("MPI_Startall", 50 + 50);
        for (flag = 0; !flag;) {
            MPI_Testall(2, pair, &flag, MPI_STATUSES_IGNORE);
            expect("MPI_Testall", 0);
        }
    }
    for (int i = 0; i < 2; ++i) {
        MPI_Request_free(&pair[i]);
        expect("MPI_Request_free", 0);
    }

    MPI_Irecv(in, 60, MPI_CHAR, previous_rank(), 42, MPI_COMM_WORLD, &pair[0]);
    expect("MPI_Irecv", 60);
    MPI_Isend(out, 60, MPI_CHAR, next_rank(), 42, MPI_COMM_WORLD, &pair[1]);
    expect("MPI_Isend", 60);
    MPI_Waitany(2, pair, &index, MPI_STATUS_IGNORE);
    expect("MPI_Waitany", 0);
    do {
        MPI_Waitsome(2, pair, &count, indices, MPI_STATUSES_IGNORE);
        expect("MPI_Waitsome", 0);
    } while (count != MPI_UNDEFINED);
    MPI_Barrier(MPI_COMM_WORLD);
    expect("MPI_Barrier", 0);
}

static void derived_types(void) {
    double out[64], in[64];
    MPI_Datatype type, wide;
    // A vector's size is what it moves (6 doubles), not what it spans.
    MPI_Type_vector(3, 2, 5, MPI_DOUBLE, &type);
    expect("MPI_Type_vector", 0);
    MPI_Type_commit(&type);
    expect("MPI_Type_commit", 0);
    ring(out, 2, in, 2, type, 48);
    MPI_Type_create_resized(type, 0, 256, &wide);
    expect("MPI_Type_create_resized", 0);
    MPI_Type_commit(&wide);
    expect("MPI_Type_commit", 0);
    ring(out, 1, in, 1, wide, 48);
    MPI_Type_free(&wide);
    expect("MPI_Type_free", 0);
    MPI_Type_free(&type);
    expect("MPI_Type_free", 0);
    // A handle that is freed may come back for another type: its size must not be remembered.
    for (int n = 1; n <= 20; ++n) {
        MPI_Type_contiguous(n, MPI_INT, &type);
        expect("MPI_Type_contiguous", 0);
        MPI_Type_commit(&type);
        expect("MPI_Type_commit", 0);
        ring(out, 1, in, 1, type, 4 * n);
        MPI_Type_free(&type);
        expect("MPI_Type_free", 0);
    }
}

#include "known_collectives.h"

static void communicators(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect("MPI_Comm_dup", 0);
    collectives(comm);
    MPI_Comm_free(&comm);
    expect("MPI_Comm_free", 0);
    // Groups of changing sizes behind handles that come back: a size must not be remembered.
    for (int round = 0; round < 6; ++round) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % (1 + round % 3), rank, &comm);
        expect("MPI_Comm_split", 0);
        int n;
        MPI_Comm_size(comm, &n);
        expect("MPI_Comm_size", 0);
        char* out = calloc(10, n);
        char in[10];
        MPI_Reduce_scatter_block(out, in, 10, MPI_CHAR, MPI_MAX, comm);
        expect("MPI_Reduce_scatter_block", 10ull * n);
        free(out);
        MPI_Comm_free(&comm);
        expect("MPI_Comm_free", 0);
    }
    collectives(MPI_COMM_SELF);
}

static void one_sided(void) {
    double window[32] = {0}, local[32];
    for (int i = 0; i < 32; ++i) local[i] = rank;
    MPI_Win win;
    MPI_Win_create(window, sizeof window, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    expect("MPI_Win_create", 0);
    MPI_Win_fence(0, win);
    expect("MPI_Win_fence", 0);
    MPI_Put(local, 10, MPI_DOUBLE, next_rank(), 0, 10, MPI_DOUBLE, win);
    expect("MPI_Put", 80);
    MPI_Accumulate(local, 4, MPI_DOUBLE, next_rank(), 16, 4, MPI_DOUBLE, MPI_SUM, win);
    expect("MPI_Accumulate", 32);
    MPI_Win_fence(0, win);
    expect("MPI_Win_fence", 0);
    MUST(window[9] == previous_rank() && window[19] == previous_rank());
    MPI_Get(local, 5, MPI_DOUBLE, next_rank(), 0, 5, MPI_DOUBLE, win);
    expect("MPI_Get", 40);
    MPI_Win_fence(0, win);
    expect("MPI_Win_fence", 0);
    long one = 1, old = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next_rank(), 0, win);
    expect("MPI_Win_lock", 0);
    MPI_Fetch_and_op(&one, &old, MPI_LONG, next_rank(), 30, MPI_SUM, win);
    expect("MPI_Fetch_and_op", 8);
    MPI_Win_flush(next_rank(), win);
    expect("MPI_Win_flush", 0);
    MUST(old == 0);
    MPI_Win_unlock(next_rank(), win);
    expect("MPI_Win_unlock", 0);
    MPI_Win_free(&win);
    expect("MPI_Win_free", 0);
}

// Bytes of files are counted as files', by the count that was asked for.
static void files(void) {
    MPI_File file;
    MPI_Offset bytes;
    char name[] = "known.data", data[100];
    memset(data, 'a' + rank, sizeof data);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    expect("MPI_File_open", 0);
    MPI_File_write_at(file, rank * 100, data, 100, MPI_CHAR, MPI_STATUS_IGNORE);
    expect("MPI_File_write_at", 100);
    MPI_File_write_at_all(file, (size + rank) * 100, data, 50, MPI_CHAR, MPI_STATUS_IGNORE);
    expect("MPI_File_write_at_all", 50);
    MPI_File_read_at_all(file, rank * 100, data, 10, MPI_CHAR, MPI_STATUS_IGNORE);
    expect("MPI_File_read_at_all", 10);
    MUST(data[9] == 'a' + rank);
    MPI_Barrier(MPI_COMM_WORLD);  // all have written
    expect("MPI_Barrier", 0);
    MPI_File_get_size(file, &bytes);
    expect("MPI_File_get_size", 0);
    MUST(bytes == (2 * size - 1) * 100 + 50);
    MPI_File_close(&file);
    expect("MPI_File_close", 0);
}

// A call that fails moved nothing: it is an error, not a call of so many bytes.
static void failing_calls(void) {
    MPI_Comm comm;
    char byte = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect("MPI_Comm_dup", 0);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    expect("MPI_Comm_set_errhandler", 0);
    MUST(MPI_Send(&byte, 1, MPI_CHAR, size + 5, 0, comm) != MPI_SUCCESS);
    MUST(MPI_Bcast(&byte, -1, MPI_CHAR, 0, comm) != MPI_SUCCESS);
    MPI_Comm_free(&comm);
    expect("MPI_Comm_free", 0);
}

int main(int argc, char** argv) {
    const int repetitions = argc > 2 ? atoi(argv[2]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect("MPI_Comm_rank", 0);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    expect("MPI_Comm_size", 0);
    for (int i = 0; i < repetitions; ++i) {
        point_to_point();
        messages_to_nobody();
        messages_from_anybody();
        probes();
        kinds_of_sends();
        exchanges();
        requests();
        derived_types();
        collectives(MPI_COMM_WORLD);
        communicators();
        intercommunicators();
        one_sided();
        files();
        neighbours();
        failing_calls();
    }
    unsigned long long all = 0;
    MPI_Reduce(&wrong, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    expect("MPI_Reduce", 8);
    if (rank == 0) printf("known: %d ranks, %llu wrong results\n", size, all);
    write_book(argv[1], rank);
    MPI_Finalize();
    return wrong != 0;
}
