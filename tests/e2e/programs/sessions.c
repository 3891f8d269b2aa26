// Sessions: each makes a communicator of everybody and uses it.
// usage: sessions alone PREFIX     one session, no world
//        sessions nested PREFIX    three, one after the other, while a fourth is open; no world
//        sessions world PREFIX     two between MPI_Init and MPI_Finalize
#include <mpi.h>

#include "book.h"

static int one_round(int* rank) {
    int in = 2, sum = 0, size = 0;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    expect("MPI_Group_from_session_pset", 0);
    MPI_Comm_create_from_group(group, "tests.mpiprof.sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    expect("MPI_Comm_create_from_group", 0);
    MPI_Group_free(&group);
    expect("MPI_Group_free", 0);
    MPI_Comm_rank(comm, rank);
    expect("MPI_Comm_rank", 0);
    MPI_Comm_size(comm, &size);
    expect("MPI_Comm_size", 0);
    MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect("MPI_Allreduce", 4);
    MPI_Comm_free(&comm);
    expect("MPI_Comm_free", 0);
    MPI_Session_finalize(&session);
    return sum == 2 * size;
}

int main(int argc, char** argv) {
    const int is_nested = strcmp(argv[1], "nested") == 0, has_world = strcmp(argv[1], "world") == 0;
    const int rounds = is_nested ? 3 : has_world ? 2 : 1;
    int rank = 0, good = 0;
    MPI_Session outer;
    if (has_world) MPI_Init(&argc, &argv);
    if (is_nested) MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &outer);
    for (int i = 0; i < rounds; ++i) good += one_round(&rank);
    if (is_nested) MPI_Session_finalize(&outer);
    write_book(argv[2], rank);
    if (has_world) MPI_Finalize();
    if (good != rounds || rank == 0) printf("sessions: %d of %d rounds good\n", good, rounds);
    return good != rounds;
}
