// What is left over at MPI_Finalize, and what is not although it looks like it. One rank.
// usage: left_over leaves|frees|library
#include <mpi.h>
#include <string.h>

enum { n = 4 };
static int buffer[64];

void library_leaves(void);  // left_over_library.c

static void use(MPI_Comm comm, int times) {
    for (int i = 0; i < times; ++i) MPI_Allreduce(MPI_IN_PLACE, buffer, 1, MPI_INT, MPI_SUM, comm);
}

static void leave(void) {
    MPI_Request open[2], persistent, started;
    MPI_Comm copy, part;
    MPI_Datatype types[n];
    for (int i = 0; i < 2; ++i) MPI_Irecv(buffer, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &open[i]);  // here: open
    MPI_Send_init(buffer, 1, MPI_INT, 0, 8, MPI_COMM_SELF, &persistent);                       // here: persistent
    MPI_Recv_init(buffer, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &started);                          // here: started
    MPI_Start(&started);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);          // here: copy
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &part);  // here: part
    use(part, 20);
    for (int i = 0; i < n; ++i) MPI_Type_vector(2, 1, 2, MPI_INT, &types[i]);  // here: types
    MPI_Type_commit(&types[0]);
    for (int i = 0; i < 20; ++i) MPI_Bcast(buffer, 1, types[0], 0, MPI_COMM_SELF);
}

// ---- all of these are freed, each in another way ----
static MPI_Comm at_the_end, inner, inner_used;
static MPI_Datatype type_at_the_end;
static MPI_Request request_at_the_end;

static int free_at_finalize(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    MPI_Comm_free(&at_the_end);
    MPI_Type_free(&type_at_the_end);
    MPI_Request_free(&request_at_the_end);
    return MPI_SUCCESS;
}
static int free_inner(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    MPI_Comm_free(&inner);
    MPI_Comm_free(&inner_used);
    return MPI_SUCCESS;
}

static void free_all(void) {
    int on_self, on_outer;
    MPI_Comm outer, by_another_name;
    MPI_Datatype plain, twice, precision;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_at_finalize, &on_self, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_inner, &on_outer, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &at_the_end);
    MPI_Type_contiguous(3, MPI_INT, &type_at_the_end);
    MPI_Recv_init(buffer, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &request_at_the_end);
    MPI_Comm_set_attr(MPI_COMM_SELF, on_self, NULL);

    MPI_Comm_dup(MPI_COMM_WORLD, &outer);
    MPI_Comm_dup(MPI_COMM_WORLD, &inner);
    MPI_Comm_dup(MPI_COMM_WORLD, &inner_used);
    use(inner, 1);
    use(inner_used, 20);
    MPI_Comm_set_attr(outer, on_outer, NULL);
    MPI_Comm_free(&outer);

    MPI_Comm_dup(MPI_COMM_WORLD, &by_another_name);
    use(by_another_name, 20);
    PMPI_Comm_free(&by_another_name);

    MPI_Type_contiguous(3, MPI_INT, &plain);
    MPI_Type_vector(2, 1, 2, plain, &twice);
    MPI_Type_commit(&twice);
    MPI_Type_free(&plain);
    MPI_Pcontrol(0);
    MPI_Type_free(&twice);
    MPI_Pcontrol(1);
    MPI_Type_create_f90_real(10, MPI_UNDEFINED, &precision);  // which nobody may free

    MPI_Request both[2], never;
    MPI_Irecv(buffer, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &both[0]);
    MPI_Isend(buffer + 1, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    MPI_Irecv(buffer, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &never);
    MPI_Cancel(&never);
    MPI_Wait(&never, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    use(MPI_COMM_WORLD, 1);
    MPI_Sendrecv(buffer, 1, MPI_INT, 0, 1, buffer + 1, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    if (!strcmp(argv[1], "leaves")) leave();
    if (!strcmp(argv[1], "frees")) free_all();
    if (!strcmp(argv[1], "library")) library_leaves();
    MPI_Finalize();
    return 0;
}
