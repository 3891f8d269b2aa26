/* The rank in MPI_COMM_WORLD of a rank of another communicator, as MPI itself has it. Included by the programs of the
 * end-to-end tests that keep their own account of peers. */
#ifndef WORLD_H
#define WORLD_H

#include <mpi.h>

static inline int world_of(MPI_Comm comm, int rank) {
    MPI_Group group, world;
    int there = rank;
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, 1, &rank, world, &there);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return there;
}

#endif
