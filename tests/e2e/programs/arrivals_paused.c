// 60 Barriers to which rank 1 comes 2 ms late. Rank 0 records neither the second 20 of them nor the third 20; rank 1
// leaves out the third. After each, both free a communicator with an attribute, whose callback calls Barrier once more,
// and MPI_Finalize does so with another: these are parts of other calls, and in no order.
#include <mpi.h>
#include <time.h>

static void rest(long us) {
    const struct timespec t = {0, us * 1000};
    nanosleep(&t, NULL);
}

static int barrier_within(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    return MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    int rank = 0, keyval = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, barrier_within, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    for (int i = 0; i < 60; ++i) {
        if (i == (rank == 0 ? 20 : 40)) MPI_Pcontrol(0);
        if (rank == 1) rest(2000);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm own;
        MPI_Comm_dup(MPI_COMM_SELF, &own);
        MPI_Comm_set_attr(own, keyval, NULL);
        MPI_Comm_free(&own);
    }
    MPI_Finalize();
    return 0;
}
