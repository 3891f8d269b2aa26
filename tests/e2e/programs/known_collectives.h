/* Collectives of every kind on any communicator, for known.c, which has what they call. */
struct group {
    MPI_Comm comm;
    int me, n;
    double *out, *in;
    int *counts, *places;
};

static void equal_blocks(const struct group* g) {
    const MPI_Comm comm = g->comm;
    const int me = g->me, n = g->n;
    double *out = g->out, *in = g->in;
    for (int count = 0; count <= 33; count += 11) {
        MPI_Bcast(out, count, MPI_DOUBLE, 0, comm);
        expect("MPI_Bcast", count * 8ull);
        MPI_Reduce(out, in, count, MPI_DOUBLE, MPI_SUM, n - 1, comm);
        expect("MPI_Reduce", count * 8ull);
        for (int i = 0; i < count; ++i) out[i] = me + i;
        MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, comm);
        expect("MPI_Allreduce", count * 8ull);
        MUST(count == 0 || in[count - 1] == n * (n - 1) / 2.0 + n * (count - 1.0));
        MPI_Allreduce(MPI_IN_PLACE, in, count, MPI_DOUBLE, MPI_MAX, comm);
        expect("MPI_Allreduce", count * 8ull);
        MPI_Scan(out, in, count, MPI_DOUBLE, MPI_SUM, comm);
        expect("MPI_Scan", count * 8ull);
        MPI_Exscan(out, in, count, MPI_DOUBLE, MPI_SUM, comm);
        expect("MPI_Exscan", count * 8ull);
        MPI_Alltoall(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, comm);
        expect("MPI_Alltoall", count * 8ull);
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, count, MPI_DOUBLE, comm);
        expect("MPI_Alltoall", count * 8ull);
        MPI_Allgather(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, comm);
        expect("MPI_Allgather", count * 8ull);
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, count, MPI_DOUBLE, comm);
        expect("MPI_Allgather", count * 8ull);
        MPI_Reduce_scatter_block(out, in, count, MPI_DOUBLE, MPI_SUM, comm);
        expect("MPI_Reduce_scatter_block", count * 8ull * n);
        MPI_Barrier(comm);
        expect("MPI_Barrier", 0);
    }
}

// Arguments that do not count at a rank are what a careless program passes there.
static void rooted_collectives(const struct group* g) {
    const MPI_Comm comm = g->comm;
    const int me = g->me;
    double *out = g->out, *in = g->in;
    for (int root = 0; root < g->n; ++root) {
        const int junk = me == root ? 3 : -1;
        const MPI_Datatype type = me == root ? MPI_DOUBLE : MPI_DATATYPE_NULL;
        MPI_Gather(out, 3, MPI_DOUBLE, in, junk, type, root, comm);
        expect("MPI_Gather", 24);
        MPI_Scatter(in, junk, type, out, 3, MPI_DOUBLE, root, comm);
        expect("MPI_Scatter", 24);
        MPI_Gather(me == root ? MPI_IN_PLACE : out, me == root ? 0 : 5, me == root ? MPI_DATATYPE_NULL : MPI_INT, in, 5,
                   MPI_INT, root, comm);
        expect("MPI_Gather", 20);
        MPI_Scatter(in, 5, MPI_INT, me == root ? MPI_IN_PLACE : out, me == root ? 0 : 5,
                    me == root ? MPI_DATATYPE_NULL : MPI_INT, root, comm);
        expect("MPI_Scatter", 20);
    }
}

// Rank i contributes i + 1 elements.
static void unequal_contributions(const struct group* g) {
    const MPI_Comm comm = g->comm;
    const int me = g->me, n = g->n;
    double *out = g->out, *in = g->in;
    int *counts = g->counts, *places = g->places;
    int total = 0;
    for (int i = 0; i < n; ++i) {
        counts[i] = i + 1;
        places[i] = total;
        total += counts[i];
    }
    MPI_Allgatherv(out, me + 1, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, comm);
    expect("MPI_Allgatherv", 8ull * (me + 1));
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, places, MPI_DOUBLE, comm);
    expect("MPI_Allgatherv", 8ull * (me + 1));
    MPI_Gatherv(out, me + 1, MPI_DOUBLE, in, me == 0 ? counts : NULL, me == 0 ? places : NULL, MPI_DOUBLE, 0, comm);
    expect("MPI_Gatherv", 8ull * (me + 1));
    MPI_Scatterv(in, me == 0 ? counts : NULL, me == 0 ? places : NULL, MPI_DOUBLE, out, me + 1, MPI_DOUBLE, 0, comm);
    expect("MPI_Scatterv", 8ull * (me + 1));
    MPI_Reduce_scatter(out, in, counts, MPI_DOUBLE, MPI_SUM, comm);
    expect("MPI_Reduce_scatter", 8ull * total);
}

// A symmetric pattern of unequal blocks: 1 + (me + i) % n doubles between me and i, on average (n + 1) / 2.
static void unequal_blocks(const struct group* g) {
    const MPI_Comm comm = g->comm;
    const int me = g->me, n = g->n;
    double *out = g->out, *in = g->in;
    int *counts = g->counts, *places = g->places;
    int total = 0;
    for (int i = 0; i < n; ++i) {
        counts[i] = 1 + (me + i) % n;
        places[i] = total;
        total += counts[i];
    }
    MPI_Alltoallv(out, counts, places, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, comm);
    expect("MPI_Alltoallv", 4ull * (n + 1));
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, places, MPI_DOUBLE, comm);
    expect("MPI_Alltoallv", 4ull * (n + 1));
    MPI_Datatype* types = malloc(n * sizeof(MPI_Datatype));
    for (int i = 0; i < n; ++i) {
        types[i] = (me + i) % 2 ? MPI_DOUBLE : MPI_INT;
        counts[i] = (me + i) % 2 ? 2 : 4;  // 16 bytes either way
        places[i] = 16 * i;
    }
    MPI_Alltoallw(out, counts, places, types, in, counts, places, types, comm);
    expect("MPI_Alltoallw", 16);
    free(types);
}

static void nonblocking_collectives(const struct group* g) {
    const MPI_Comm comm = g->comm;
    double *out = g->out, *in = g->in;
    MPI_Request request;
    MPI_Ibcast(out, 9, MPI_INT, 0, comm, &request);
    expect("MPI_Ibcast", 36);
    wait_for(&request);
    MPI_Iallreduce(out, in, 17, MPI_DOUBLE, MPI_SUM, comm, &request);
    expect("MPI_Iallreduce", 136);
    wait_for(&request);
    MPI_Ialltoall(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, comm, &request);
    expect("MPI_Ialltoall", 16);
    wait_for(&request);
    MPI_Ibarrier(comm, &request);
    expect("MPI_Ibarrier", 0);
    wait_for(&request);
}

static void collectives(MPI_Comm comm) {
    struct group g = {.comm = comm};
    MPI_Comm_rank(comm, &g.me);
    expect("MPI_Comm_rank", 0);
    MPI_Comm_size(comm, &g.n);
    expect("MPI_Comm_size", 0);
    g.out = calloc(64 * (size_t)g.n, sizeof *g.out);
    g.in = calloc(64 * (size_t)g.n, sizeof *g.in);
    g.counts = malloc(g.n * sizeof *g.counts);
    g.places = malloc(g.n * sizeof *g.places);
    equal_blocks(&g);
    rooted_collectives(&g);
    unequal_contributions(&g);
    unequal_blocks(&g);
    nonblocking_collectives(&g);
    free(g.places);
    free(g.counts);
    free(g.in);
    free(g.out);
}

// Two groups, of rank 0 and of all others.
static void intercommunicators(void) {
    MPI_Comm mine, both, copy;
    const int here = rank == 0 ? 1 : size - 1, there = size - here;  // members of this group, and of the other
    int* counts = malloc(sizeof *counts * (size_t)size);
    int* places = malloc(sizeof *places * (size_t)size);
    double out[16] = {0}, in[16];
    const int root = rank == 0 ? MPI_ROOT : 0;                                    // of rank 0's data
    const int other_root = rank == 0 ? 0 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL;  // of rank 1's
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &mine);
    expect("MPI_Comm_split", 0);
    MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 77, &both);
    expect("MPI_Intercomm_create", 0);
    for (int i = 0; i < 3; ++i) {
        MPI_Bcast(out, 2, MPI_DOUBLE, root, both);
        expect("MPI_Bcast", 16);
        MPI_Bcast(out, 3, MPI_DOUBLE, other_root, both);  // who is beside the root moves nothing
        expect("MPI_Bcast", rank < 2 ? 24 : 0);
        MPI_Reduce(out, in, 5, MPI_DOUBLE, MPI_SUM, other_root, both);
        expect("MPI_Reduce", rank < 2 ? 40 : 0);
    }
    MPI_Allreduce(out, in, 2, MPI_DOUBLE, MPI_SUM, both);
    expect("MPI_Allreduce", 16);
    MPI_Gather(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, other_root, both);
    expect("MPI_Gather", rank < 2 ? 16 : 0);
    MPI_Scatter(out, 3, MPI_DOUBLE, in, 3, MPI_DOUBLE, other_root, both);
    expect("MPI_Scatter", rank < 2 ? 24 : 0);
    // From rank 0 each gets one more than the one before; it gets as much from all.
    for (int i = 0, at = 0; i < there; ++i) {
        counts[i] = rank == 0 ? i + 1 : rank;
        places[i] = at;
        at += counts[i];
    }
    MPI_Alltoallv(out, counts, places, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, both);
    expect("MPI_Alltoallv",
           rank == 0 ? 8ull * (unsigned)(there * (there + 1) / 2) / (unsigned)there : 8ull * (unsigned)rank);
    // Each group reduces what the other gives, and scatters it among its own: as many in all on both sides.
    for (int i = 0; i < here; ++i) counts[i] = rank == 0 ? 6 : i + 1 < here ? 1 : 6 - i;
    MPI_Reduce_scatter(out, in, counts, MPI_DOUBLE, MPI_SUM, both);
    expect("MPI_Reduce_scatter", 48);
    MPI_Reduce_scatter_block(out, in, 6 / here, MPI_DOUBLE, MPI_SUM, both);
    expect("MPI_Reduce_scatter_block", 48);
    MPI_Comm_dup(both, &copy);
    expect("MPI_Comm_dup", 0);
    MPI_Barrier(copy);
    expect("MPI_Barrier", 0);
    if (rank < 2) {
        MPI_Sendrecv(out, 2, MPI_DOUBLE, 0, 5, in, 16, MPI_DOUBLE, 0, 5, copy, MPI_STATUS_IGNORE);
        expect("MPI_Sendrecv", 32);
    }
    MPI_Comm* const made[] = {&copy, &both, &mine};
    for (int i = 0; i < 3; ++i) {
        MPI_Comm_free(made[i]);
        expect("MPI_Comm_free", 0);
    }
    free(counts);
    free(places);
}

// A ring in which everybody knows its two neighbours: blocks of 8 and 16 bytes to them.
static void neighbours(void) {
    const int degree = 2, from[] = {previous_rank(), next_rank()}, to[] = {next_rank(), previous_rank()};
    const int counts[] = {1, 2}, back[] = {1, 2}, places[] = {0, 1};
    double out[4] = {0}, in[4];
    MPI_Comm ring_comm;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, from, MPI_UNWEIGHTED, degree, to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &ring_comm);
    expect("MPI_Dist_graph_create_adjacent", 0);
    MPI_Neighbor_allgather(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, ring_comm);
    expect("MPI_Neighbor_allgather", 16);
    MPI_Neighbor_alltoall(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, ring_comm);
    expect("MPI_Neighbor_alltoall", 8);
    MPI_Neighbor_alltoallv(out, counts, places, MPI_DOUBLE, in, back, places, MPI_DOUBLE, ring_comm);
    expect("MPI_Neighbor_alltoallv", 12);
    MPI_Comm_free(&ring_comm);
    expect("MPI_Comm_free", 0);
}
