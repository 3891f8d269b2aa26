// Users' functions that MPI calls, and that call MPI: attribute copies and deletions (also those of MPI_Finalize, where
// libraries clean up), reductions, generalised requests. And MPI before MPI_Init and after MPI_Finalize, as far as it
// is legal. What a callback calls belongs to the call that it runs in. Books the rest. usage: callbacks PREFIX
#include <mpi.h>
#include <stdint.h>

#include "book.h"

static int rank, deleted, copied, wrong, in_finalize, reductions;

static void talk_to_mpi(void) {
    int in = 1, out = 0, me;
    MPI_Datatype type;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Sendrecv(&in, 1, MPI_INT, 0, 0, &out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    MPI_Type_contiguous(7, MPI_INT, &type);
    MPI_Type_free(&type);
    if (me != rank || out != 1) ++wrong;
}

static int copy(MPI_Comm comm, int key, void* state, void* in, void* out, int* flag) {
    (void)comm, (void)key, (void)state;
    talk_to_mpi();
    ++copied;
    *(void**)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int drop(MPI_Comm comm, int key, void* value, void* state) {
    (void)key, (void)state;
    int n;
    MPI_Comm_size(comm, &n);
    if (n != (int)(intptr_t)value) ++wrong;
    talk_to_mpi();
    ++deleted;
    if (in_finalize && rank == 0) printf("callbacks: deleted in MPI_Finalize\n");
    return MPI_SUCCESS;
}

static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
    int bytes;
    MPI_Type_size(*type, &bytes);
    if (bytes != sizeof(int)) ++wrong;
    for (int i = 0; i < *n; ++i) ((int*)inout)[i] += ((int*)in)[i];
    ++reductions;
}

static int query(void* state, MPI_Status* status) {
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int release(void* state) {
    (void)state;
    talk_to_mpi();
    return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void ask_anytime(int expect_initialized, int expect_finalized) {
    int initialized, finalized, version, subversion, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(text, &length);
    if (initialized != expect_initialized || finalized != expect_finalized || version < 3 || length < 4) ++wrong;
}

static void after_everything(void) {
    ask_anytime(1, 1);
    if (wrong) printf("callbacks: wrong after main\n");
}

static int ranks_of_world(void) {
    int n;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect("MPI_Comm_rank", 0);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    expect("MPI_Comm_size", 0);
    return n;
}

/* Attributes are copied and dropped within MPI_Comm_dup and MPI_Comm_free. */
static void communicators_with_attributes(int key, int n) {
    int out[3] = {1, 2, 3}, in[3];
    MPI_Comm comm, dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect("MPI_Comm_dup", 0);
    MPI_Comm_set_attr(comm, key, (void*)(intptr_t)n);
    expect("MPI_Comm_set_attr", 0);
    for (int i = 0; i < 10; ++i) {
        MPI_Comm_dup(comm, &dup);
        expect("MPI_Comm_dup", 0);
        MPI_Allreduce(out, in, 3, MPI_INT, MPI_SUM, dup);
        expect("MPI_Allreduce", 12);
        MPI_Comm_free(&dup);
        expect("MPI_Comm_free", 0);
        MPI_Barrier(comm);
        expect("MPI_Barrier", 0);
    }
    MPI_Comm_free(&comm);
    expect("MPI_Comm_free", 0);
    if (copied != 10 || deleted != 11) ++wrong;
}

static void own_reductions(int n) {
    int out[3] = {1, 2, 3}, in[3];
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    expect("MPI_Op_create", 0);
    for (int i = 0; i < 5; ++i) {
        MPI_Allreduce(out, in, 3, MPI_INT, op, MPI_COMM_WORLD);
        expect("MPI_Allreduce", 12);
    }
    if (in[2] != 3 * n || reductions == 0) ++wrong;
    MPI_Op_free(&op);
    expect("MPI_Op_free", 0);
}

static void own_requests(void) {
    int done = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Grequest_start(query, release, cancel, NULL, &request);
    expect("MPI_Grequest_start", 0);
    MPI_Grequest_complete(request);
    expect("MPI_Grequest_complete", 0);
    while (!done) {
        MPI_Test(&request, &done, &status);
        expect("MPI_Test", 0);
    }
}

int main(int argc, char** argv) {
    int key;
    atexit(after_everything);
    ask_anytime(0, 0);
    MPI_Init(&argc, &argv);
    ask_anytime(1, 0);
    const int n = ranks_of_world();
    MPI_Comm_create_keyval(copy, drop, &key, NULL);
    expect("MPI_Comm_create_keyval", 0);
    communicators_with_attributes(key, n);
    own_reductions(n);
    own_requests();
    MPI_Comm_set_attr(MPI_COMM_SELF, key, (void*)(intptr_t)1);
    expect("MPI_Comm_set_attr", 0);
    MPI_Comm_free_keyval(&key);
    expect("MPI_Comm_free_keyval", 0);
    write_book(argv[1], rank);
    in_finalize = 1;
    MPI_Finalize();
    if (deleted != 12) ++wrong;
    ask_anytime(1, 1);
    if (wrong || rank == 0) printf("callbacks: %d copied, %d deleted, %d wrong\n", copied, deleted, wrong);
    return wrong != 0;
}
