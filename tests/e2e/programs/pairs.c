// ROUNDS rounds of Send and Recv between neighbours, an Allreduce and a Barrier. Books its calls.
// usage: pairs ROUNDS PREFIX
#include <mpi.h>

#include "book.h"

int main(int argc, char** argv) {
    int rank, size, wrong = 0;
    double out[4] = {1, 2, 3, 4}, in[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect("MPI_Comm_rank", 0);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    expect("MPI_Comm_size", 0);
    for (int i = 0; i < atoi(argv[1]); ++i) {
        const int other = rank ^ 1;
        if (other < size && rank < other) {
            MPI_Send(out, 4, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
            expect("MPI_Send", 32);
        } else if (other < size) {
            MPI_Recv(in, 4, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            expect("MPI_Recv", 32);
        }
        MPI_Allreduce(out, in, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        expect("MPI_Allreduce", 16);
        if (in[1] != 2 * size) ++wrong;
        MPI_Barrier(MPI_COMM_WORLD);
        expect("MPI_Barrier", 0);
    }
    write_book(argv[2], rank);
    if (wrong || rank == 0) printf("pairs: %d ranks, %d wrong\n", size, wrong);
    MPI_Finalize();
    return wrong != 0;
}
