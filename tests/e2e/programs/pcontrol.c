// Pauses and resumes the profiler with MPI_Pcontrol, and books what is called while it records. Ends paused.
// usage: pcontrol PREFIX
#include <mpi.h>

#include "book.h"

static int wrong;

static void calls(int n, int recorded) {
    int in = 1, out, me;
    for (int i = 0; i < n; ++i) {
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (recorded) expect("MPI_Allreduce", 4);
        MPI_Comm_rank(MPI_COMM_WORLD, &me);
        if (recorded) expect("MPI_Comm_rank", 0);
    }
}

static void control(int level) {
    if (MPI_Pcontrol(level) != MPI_SUCCESS) ++wrong;
}

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect("MPI_Comm_rank", 0);
    calls(3, 1);
    control(0);
    calls(5, 0);
    control(0);  // once more: still paused
    calls(7, 0);
    control(1);
    calls(11, 1);
    control(1);  // once more: still recording
    control(2);
    if (MPI_Pcontrol(17, "a region", 3.5) != MPI_SUCCESS) ++wrong;  // variadic, and no level that means anything
    calls(13, 1);
    control(0);
    calls(17, 0);
    write_book(argv[1], rank);
    if (wrong || rank == 0) printf("pcontrol: %d wrong\n", wrong);
    MPI_Finalize();
    return wrong != 0;
}
