/* Communicators of every making. Each is given a name, used once, and its members written to expected.<rank>.txt as
   "name first-world-rank second-world-rank ...", so that a test can say which ranks must agree on its id. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE* expected;
static int me, ranks;

static void add(MPI_Group group, char* line) {
    MPI_Group world;
    int n;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(group, &n);
    for (int i = 0; i < n; ++i) {
        int there;
        MPI_Group_translate_ranks(group, 1, &i, world, &there);
        sprintf(line + strlen(line), " %d", there);
    }
    MPI_Group_free(&world);
    MPI_Group_free(&group);
}

static void use(MPI_Comm comm, const char* name) {
    char line[1000];
    MPI_Group group;
    int inter;
    strcpy(line, name);
    MPI_Comm_set_name(comm, name);
    MPI_Barrier(comm);
    MPI_Comm_group(comm, &group);
    add(group, line);
    MPI_Comm_test_inter(comm, &inter);
    if (inter) {
        MPI_Comm_remote_group(comm, &group);
        add(group, line);
    }
    fprintf(expected, "%s\n", line);
}

static MPI_Comm row, column;

static void rows_and_columns(void) {
    MPI_Comm copy;
    MPI_Comm_split(MPI_COMM_WORLD, me / 2, me, &row);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &column); /* in reverse order */
    use(row, "row");
    use(column, "column");
    double sum, one = 1, block[128] = {0};
    for (int i = 0; i < 100; ++i) MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, row);
    for (int i = 0; i < 50; ++i) MPI_Bcast(block, 128, MPI_DOUBLE, 0, column);
    MPI_Comm_dup(row, &copy);
    use(copy, "copy of row");
}

static void topologies(void) {
    MPI_Comm cart, line, ring;
    int dims[2] = {ranks / 2, 2}, periods[2] = {1, 0}, keep[2] = {1, 0};
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    use(cart, "cart");
    MPI_Cart_sub(cart, keep, &line);
    use(line, "line of cart");
    int left = (me + ranks - 1) % ranks, right = (me + 1) % ranks;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                   0, &ring);
    use(ring, "ring");
}

static void groups(void) {
    MPI_Comm some, pair;
    MPI_Group world, first_two;
    int two[2] = {0, 1};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, two, &first_two);
    MPI_Comm_create(MPI_COMM_WORLD, first_two, &some); /* null on the others, who were asked all the same */
    if (some != MPI_COMM_NULL) use(some, "created");
    for (int tag = 7; tag < 9 && me < 2; ++tag) { /* the others take no part */
        MPI_Comm_create_group(MPI_COMM_WORLD, first_two, tag, &pair);
        use(pair, tag == 7 ? "group 7" : "group 8");
    }
    MPI_Comm_split(MPI_COMM_WORLD, me == 0 ? MPI_UNDEFINED : 1, 0, &some);
    if (some != MPI_COMM_NULL) use(some, "all but one");
}

static void handles_that_come_again(void) {
    char name[40];
    MPI_Comm again;
    for (int i = 0; i < 3; ++i) { /* a library gives a freed handle out again */
        MPI_Comm_dup(column, &again);
        sprintf(name, "again %d", i);
        use(again, name);
        MPI_Comm_free(&again);
    }
}

static void intercommunicators(void) {
    MPI_Comm bridge, merged, again;
    MPI_Intercomm_create(row, 0, MPI_COMM_WORLD, me < 2 ? 2 : 0, 5, &bridge); /* rows 0 and 1; this takes 4 ranks */
    use(bridge, "bridge");
    MPI_Intercomm_merge(bridge, me < 2, &merged);
    use(merged, "merged");
    MPI_Comm_dup(bridge, &again); /* of two groups both times, whose members must agree over the bridge, too */
    use(again, "copy of bridge");
    MPI_Comm_split(bridge, me % 2, me, &again);
    use(again, "lane of bridge");
    MPI_Request copying[2];
    MPI_Comm copies[2];
    for (int i = 0; i < 2; ++i) MPI_Comm_idup(i ? bridge : row, &copies[i], &copying[i]);
    MPI_Waitall(2, copying, MPI_STATUSES_IGNORE);
    use(copies[0], "later copy of row");
    use(copies[1], "later copy of bridge");
}

static void pauses(void) {
    MPI_Comm again;
    if (me == 1) MPI_Pcontrol(0); /* what is made meanwhile counts for those that are made of the same later */
    MPI_Comm_dup(MPI_COMM_WORLD, &again);
    if (me == 1) MPI_Pcontrol(1);
    MPI_Comm_dup(MPI_COMM_WORLD, &again);
    use(again, "after a pause of one");
    MPI_Pcontrol(0); /* a handle may have another meaning afterwards */
    MPI_Comm_free(&again);
    MPI_Comm_split(MPI_COMM_WORLD, me / 3, me, &again);
    MPI_Comm_set_name(again, "made in a pause");
    MPI_Pcontrol(1);
    use(again, "made in a pause");
}

int main(int argc, char** argv) {
    char name[40];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    sprintf(name, "expected.%d.txt", me);
    expected = fopen(name, "w");
    rows_and_columns();
    topologies();
    groups();
    handles_that_come_again();
    intercommunicators();
    pauses();
    use(MPI_COMM_WORLD, "world");
    fclose(expected);
    MPI_Finalize();
    return 0;
}
