// Heat in a plate whose rows are shared by the ranks: each step swaps edges with the neighbours and computes the next
// temperatures; every tenth asks all ranks how much has changed. The last quarter of the rows has a chemical source,
// which costs some ten times the plain step: the load imbalance of codes that refine or react in one region.
//
//   mpicc -O2 -g heat.c -o heat -lm
//   mpirun -n 4 ./heat [steps]         every rank has as many rows: the last one is slow
//   mpirun -n 4 ./heat [steps] cost    every rank has as much to do
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    columns = 1024,
    all_rows = 1024,
    first_row_of_source = all_rows * 3 / 4,
    cost_of_source = 10,
    steps_between_checks = 10
};

static int rank, size, first_row, rows;
static double *now, *next;  // rows of this rank, with an edge above and one below

// The first row of a rank: behind its share of the rows, or of the cost.
static int begin_of(int r, int by_cost) {
    if (!by_cost) return all_rows * r / size;
    const double plain = first_row_of_source, whole = plain + cost_of_source * (all_rows - plain);
    const double share = whole * r / size;
    return (int)(share <= plain ? share : plain + (share - plain) / cost_of_source);
}

static void swap_edges(void) {
    const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(now + columns, columns, MPI_DOUBLE, above, 0, now + (rows + 1) * columns, columns, MPI_DOUBLE, below,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(now + rows * columns, columns, MPI_DOUBLE, below, 1, now, columns, MPI_DOUBLE, above, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double react(double temperature) {
    double rate = temperature;
    for (int i = 0; i < 4; i++) rate = sqrt(1 + rate * rate) - 0.5 * rate;
    return 1e-3 * rate;
}

// The largest change.
static double step(void) {
    double most = 0;
    for (int row = 1; row <= rows; row++) {
        const double* here = now + row * columns;
        double* to = next + row * columns;
        const int has_source = first_row + row - 1 >= first_row_of_source;
        for (int i = 1; i + 1 < columns; i++) {
            double value = 0.25 * (here[i - 1] + here[i + 1] + here[i - columns] + here[i + columns]);
            if (has_source) value += react(here[i]);
            const double change = fabs(value - here[i]);
            if (change > most) most = change;
            to[i] = value;
        }
    }
    double* before = now;
    now = next;
    next = before;
    return most;
}

static double largest_of_all(double mine) {
    double most;
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int steps = argc > 1 ? atoi(argv[1]) : 1000;
    const int by_cost = argc > 2 && strcmp(argv[2], "cost") == 0;
    first_row = begin_of(rank, by_cost);
    rows = begin_of(rank + 1, by_cost) - first_row;
    now = calloc((size_t)(rows + 2) * columns, sizeof *now);
    next = calloc((size_t)(rows + 2) * columns, sizeof *next);
    if (!now || !next) MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0)
        for (int i = 0; i < columns; i++) now[i] = next[i] = 1;  // the hot edge
    double change = 0;
    const double begin = MPI_Wtime();
    for (int s = 1; s <= steps; s++) {
        swap_edges();
        change = step();
        if (s % steps_between_checks == 0) change = largest_of_all(change);
    }
    if (rank == 0)
        printf("heat: %d ranks, %d steps in %.2f s, last change %.2e\n", size, steps, MPI_Wtime() - begin, change);
    free(now);
    free(next);
    MPI_Finalize();
    return 0;
}
