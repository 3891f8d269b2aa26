// Spawns two children, which are a world of their own, talks to them and lets everybody book what it called.
// usage: spawn PREFIX      (parents write PREFIX.<rank>.csv, children PREFIX.child.<rank>.csv)
#include <mpi.h>

#include "book.h"

int main(int argc, char** argv) {
    char prefix[512];
    int rank, in = 1, sum = 0, wrong = 0;
    MPI_Comm parent, other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect("MPI_Comm_rank", 0);
    MPI_Comm_get_parent(&parent);
    expect("MPI_Comm_get_parent", 0);
    const int is_child = parent != MPI_COMM_NULL;
    if (is_child) {
        other = parent;
    } else {
        MPI_Comm_spawn(argv[0], argv + 1, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
        expect("MPI_Comm_spawn", 0);
    }
    MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, other);
    expect("MPI_Allreduce", 4);
    int others;
    MPI_Comm_remote_size(other, &others);
    expect("MPI_Comm_remote_size", 0);
    if (sum != others) ++wrong;
    for (int i = 0; i < 10 + 10 * is_child; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        expect("MPI_Barrier", 0);
    }
    MPI_Comm_disconnect(&other);
    expect("MPI_Comm_disconnect", 0);
    snprintf(prefix, sizeof prefix, "%s%s", argv[1], is_child ? ".child" : "");
    write_book(prefix, rank);
    if (wrong) printf("spawn: wrong\n");
    MPI_Finalize();
    return wrong;
}
