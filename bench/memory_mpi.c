/* An MPI of 4097 ranks that moves nothing, with MPICH's handles: what bench/memory.c calls, and what a profiler asks.
 * It takes no memory of its own, so that what a run gains is the profiler's. */
#include <string.h>

#include "bench/memory_mpi.h"

#define BOTH(name, parameters, arguments)             \
    int P##name parameters;                           \
    int name parameters { return P##name arguments; } \
    int P##name parameters

static int initialized, finalized, dups, splits;
/* No two threads have a request of the same handle. */
static _Atomic unsigned threads_that_posted;
static __thread unsigned posted, own_handles;

BOTH(MPI_Init, (int* argc, char*** argv), (argc, argv)) { return initialized = 1, 0; }
BOTH(MPI_Finalize, (void), ()) { return finalized = 1, 0; }
int PMPI_Initialized(int* flag) { return *flag = initialized, 0; }
int PMPI_Finalized(int* flag) { return *flag = finalized, 0; }
int PMPI_Query_thread(int* level) { return *level = 3, 0; }
int PMPI_Get_library_version(char* text, int* length) {
    strcpy(text, "MPICH Version:\t4.0.2");
    *length = (int)strlen(text);
    return 0;
}
int MPIR_Err_create_code(void) { return 0; } /* by which MPICH is known */

// ---- messages ----

BOTH(MPI_Send, (const void* b, int n, int type, int dest, int tag, int comm), (b, n, type, dest, tag, comm)) {
    return 0;
}
BOTH(MPI_Recv, (void* b, int n, int type, int source, int tag, int comm, int* status),
     (b, n, type, source, tag, comm, status)) {
    if (status != NO_STATUS) {
        const int told[] = {8 * n, 0, source, tag, 0};
        memcpy(status, told, sizeof told);
    }
    return 0;
}
static int post(int* request) {
    if (own_handles == 0) own_handles = 0x98000000u + (threads_that_posted++ << 10);
    return *request = (int)(own_handles + posted++), 0;
}
BOTH(MPI_Isend, (const void* b, int n, int type, int dest, int tag, int comm, int* request),
     (b, n, type, dest, tag, comm, request)) {
    return post(request);
}
BOTH(MPI_Irecv, (void* b, int n, int type, int source, int tag, int comm, int* request),
     (b, n, type, source, tag, comm, request)) {
    return post(request);
}
BOTH(MPI_Waitall, (int n, int* requests, int* statuses), (n, requests, statuses)) {
    for (int i = 0; i < n; ++i) requests[i] = request_null;
    posted = 0;
    return 0;
}
BOTH(MPI_Allreduce, (const void* from, void* to, int n, int type, int op, int comm), (from, to, n, type, op, comm)) {
    return 0;
}
BOTH(MPI_Bcast, (void* b, int n, int type, int root, int comm), (b, n, type, root, comm)) { return 0; }
BOTH(MPI_Barrier, (int comm), (comm)) { return 0; }

// ---- communicators ----

BOTH(MPI_Comm_dup, (int comm, int* made), (comm, made)) { return *made = (int)first_dup + dups++, 0; }
BOTH(MPI_Comm_split, (int comm, int color, int key, int* made), (comm, color, key, made)) {
    return *made = (int)(color == 0 ? reordered : first_split + splits++), 0;
}
int PMPI_Comm_rank(int comm, int* rank) { return *rank = comm == (int)reordered ? ranks - 1 : 0, 0; }
int PMPI_Comm_size(int comm, int* size) { return *size = ranks, 0; }
int PMPI_Comm_test_inter(int comm, int* flag) { return *flag = 0, 0; }
int PMPI_Comm_get_parent(int* parent) { return *parent = 0x04000000, 0; }
int PMPI_Comm_get_name(int comm, char* name, int* length) { return strcpy(name, "x"), *length = 1, 0; }
int PMPI_Topo_test(int comm, int* kind) { return *kind = -32766, 0; }
int PMPI_Type_size_x(int type, long* bytes) { return *bytes = 8, 0; }
int PMPI_Comm_group(int comm, int* group) { return *group = comm + group_of, 0; }
int PMPI_Group_free(int* group) { return *group = 0x08000000, 0; }
int PMPI_Group_size(int group, int* size) { return *size = ranks, 0; }
int PMPI_Group_translate_ranks(int from, int n, const int* rank, int to, int* translated) {
    for (int i = 0; i < n; ++i) translated[i] = from == (int)(reordered + group_of) ? ranks - 1 - rank[i] : rank[i];
    return 0;
}
