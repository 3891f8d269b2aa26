/* Messages between ranks in every way that tells a peer. Each rank writes expected.<rank>.txt with what it did itself,
   in ranks of MPI_COMM_WORLD: "<what> <rank> <messages> <bytes>", where what is sent, received, put or fetched; and
   "any" for what was received from nobody knows whom. Run on 4 ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "world.h"

enum { sent, received, put, fetched, kinds, most = 64 };
static const char* names[] = {"sent", "received", "put", "fetched"};
static long messages[kinds][most], bytes[kinds][most], any_messages, any_bytes;
static int me, ranks;
static double out[1024], in[1024];

static void note(int kind, int rank, long size) {
    messages[kind][rank] += 1;
    bytes[kind][rank] += size;
}

static void ring(void) {
    const int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
    MPI_Status status;
    for (int i = 0; i < 20; ++i) {
        const int n = 1 + i % 3 * 100;
        const int source = i % 2 ? before : MPI_ANY_SOURCE;
        if (me == 0) MPI_Send(out, n, MPI_DOUBLE, next, i, MPI_COMM_WORLD);
        MPI_Recv(in, 1024, MPI_DOUBLE, source, i, MPI_COMM_WORLD, i % 4 < 2 ? MPI_STATUS_IGNORE : &status);
        if (me != 0) MPI_Send(out, n, MPI_DOUBLE, next, i, MPI_COMM_WORLD);
        note(sent, next, 8L * n);
        note(received, before, 8L * n);
    }
    MPI_Send(out, 100, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(in, 100, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
}

/* A 2-D grid without wrap-around, numbered by the library. */
static void halo(void) {
    int dims[2] = {2, ranks / 2}, periods[2] = {0, 0}, low, high;
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    for (int step = 0; step < 10; ++step)
        for (int axis = 0; axis < 2; ++axis) {
            MPI_Request all[4];
            MPI_Cart_shift(grid, axis, 1, &low, &high);
            MPI_Irecv(in, 10, MPI_DOUBLE, low, 1, grid, &all[0]);
            MPI_Irecv(in + 10, 10, MPI_DOUBLE, high, 2, grid, &all[1]);
            MPI_Isend(out, 10, MPI_DOUBLE, high, 1, grid, &all[2]);
            MPI_Isend(out, 10, MPI_DOUBLE, low, 2, grid, &all[3]);
            MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
            MPI_Sendrecv(out, 20, MPI_DOUBLE, high, 3, in, 20, MPI_DOUBLE, low, 3, grid, MPI_STATUS_IGNORE);
            MPI_Sendrecv_replace(out, 7, MPI_INT, low, 4, high, 4, grid, MPI_STATUS_IGNORE);
            if (low != MPI_PROC_NULL) {
                const int there = world_of(grid, low);
                note(received, there, 80), note(sent, there, 80), note(received, there, 160), note(sent, there, 28);
            }
            if (high != MPI_PROC_NULL) {
                const int there = world_of(grid, high);
                note(received, there, 80), note(sent, there, 80), note(sent, there, 160), note(received, there, 28);
            }
        }
    MPI_Comm_free(&grid);
}

/* Rows, and columns in reverse order; made and freed often, so that handles come back with another meaning. */
static void rows_and_columns(void) {
    for (int round = 0; round < 5; ++round) {
        for (int way = 0; way < 2; ++way) {
            MPI_Comm part;
            int n, mine;
            MPI_Comm_split(MPI_COMM_WORLD, (way + round) % 2 ? me % 2 : me / 2, round % 3 ? -me : me, &part);
            MPI_Comm_size(part, &n);
            MPI_Comm_rank(part, &mine);
            for (int i = 0; i < n; ++i) {
                if (mine == i) {
                    for (int other = 0; other < n; ++other)
                        if (other != i)
                            MPI_Ssend(out, 3 + round, MPI_DOUBLE, other, 0, part),
                                note(sent, world_of(part, other), 8L * (3 + round));
                } else {
                    MPI_Recv(in, 100, MPI_DOUBLE, i, 0, part, MPI_STATUS_IGNORE);
                    note(received, world_of(part, i), 8L * (3 + round));
                }
            }
            MPI_Comm_free(&part);
        }
    }
}

static void master_and_workers(void) {
    enum { jobs = 8 };
    if (me != 0) {
        for (int i = 0; i < 4 * jobs; ++i) MPI_Send(out, me, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD), note(sent, 0, 8L * me);
        for (int i = 0; i < 2; ++i) MPI_Send(out, me, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD), note(sent, 0, 8L * me);
    } else {
        MPI_Request all[jobs];
        MPI_Status statuses[jobs];
        const int total = jobs * (ranks - 1);
        /* the bytes of a receive that was posted are those of its buffer */
        for (int i = 0; i < total; ++i) {
            MPI_Recv(in, 1024, MPI_DOUBLE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &statuses[0]);
            note(received, statuses[0].MPI_SOURCE, 8L * statuses[0].MPI_SOURCE);
        }
        for (int i = 0; i < total; ++i) {
            MPI_Irecv(in, 50, MPI_DOUBLE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &all[0]);
            MPI_Wait(&all[0], &statuses[0]);
            note(received, statuses[0].MPI_SOURCE, 400);
        }
        for (int i = 0; i < ranks - 1; ++i) {
            for (int j = 0; j < jobs; ++j) MPI_Irecv(in, 50, MPI_DOUBLE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &all[j]);
            MPI_Waitall(jobs, all, statuses);
            for (int j = 0; j < jobs; ++j) note(received, statuses[j].MPI_SOURCE, 400);
        }
        for (int i = 0; i < ranks - 1; ++i) {
            int done = 0, n, which[jobs], flag;
            for (int j = 0; j < jobs; ++j) MPI_Irecv(in, 50, MPI_DOUBLE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &all[j]);
            while (done < jobs - 2) {
                MPI_Waitsome(jobs, all, &n, which, statuses);
                for (int j = 0; j < n; ++j) note(received, statuses[j].MPI_SOURCE, 400);
                done += n;
            }
            while (done < jobs) {
                MPI_Testany(jobs, all, &n, &flag, &statuses[0]);
                if (flag && n != MPI_UNDEFINED) note(received, statuses[0].MPI_SOURCE, 400), ++done;
            }
        }
        for (int i = 0; i < 2 * (ranks - 1); ++i) { /* nobody asks who it was */
            MPI_Irecv(in, 50, MPI_DOUBLE, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &all[0]);
            MPI_Wait(&all[0], MPI_STATUS_IGNORE);
            any_messages += 1, any_bytes += 400;
        }
    }
}

/* Receives that were cancelled received nothing, whatever their statuses say. */
static void cancelled(void) {
    MPI_Request request;
    MPI_Status status;
    for (int i = 0; i < 3; ++i) {
        memset(&status, 0, sizeof status); /* rank 0 is not meant */
        MPI_Irecv(in, 20, MPI_DOUBLE, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
    }
    MPI_Recv_init(in, 30, MPI_DOUBLE, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 3; ++i) {
        MPI_Start(&request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
    }
    MPI_Wait(&request, &status); /* and of one that is not active they are empty */
    MPI_Request_free(&request);
}

/* The communicator is gone, for whoever looks by its handle, before the message that is waited for. */
static void gone(void) {
    MPI_Request request;
    MPI_Status status;
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (me == 0) MPI_Irecv(in, 20, MPI_DOUBLE, MPI_ANY_SOURCE, 9, copy, &request);
    if (me == 1) MPI_Send(out, 20, MPI_DOUBLE, 0, 9, copy), note(sent, 0, 160);
    PMPI_Comm_free(&copy);
    if (me != 0) return;
    MPI_Wait(&request, &status);
    if (status.MPI_SOURCE != 1) exit(8);
    any_messages += 1, any_bytes += 160; /* whose rank that is may be asked no more */
}

static void persistent(void) {
    MPI_Request all[3];
    MPI_Status statuses[3];
    MPI_Comm copy;
    const int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Recv_init(in, 30, MPI_DOUBLE, before, 7, copy, &all[0]);
    MPI_Send_init(out, 30, MPI_DOUBLE, next, 7, copy, &all[1]);
    MPI_Recv_init(in + 30, 5, MPI_DOUBLE, MPI_ANY_SOURCE, 8, copy, &all[2]);
    for (int i = 0; i < 10; ++i) {
        MPI_Startall(2, all);
        MPI_Start(&all[2]);
        MPI_Send(out, 5, MPI_DOUBLE, before, 8, copy);
        MPI_Waitall(3, all, statuses);
        note(received, before, 240), note(sent, next, 240);
        note(sent, before, 40), note(received, statuses[2].MPI_SOURCE, 40);
    }
    for (int i = 0; i < 3; ++i) MPI_Request_free(&all[i]);
    MPI_Comm_free(&copy);
}

static void one_sided(void) {
    MPI_Comm part;
    MPI_Win window;
    int n, mine;
    static double memory[64];
    double one = 1, old;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &part); /* not in halves: Open MPI 4.1 mixes up their windows */
    MPI_Comm_size(part, &n);
    MPI_Comm_rank(part, &mine);
    const int next = (mine + 1) % n, there = world_of(part, next);
    MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, part, &window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < 6; ++i) MPI_Put(out, 4, MPI_DOUBLE, next, 0, 4, MPI_DOUBLE, window), note(put, there, 32);
    MPI_Win_fence(0, window);
    for (int i = 0; i < 5; ++i) MPI_Get(in, 3, MPI_DOUBLE, next, 0, 3, MPI_DOUBLE, window), note(fetched, there, 24);
    MPI_Win_fence(0, window);
    for (int i = 0; i < 4; ++i)
        MPI_Accumulate(&one, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, MPI_SUM, window), note(put, there, 8);
    MPI_Put(out, 4, MPI_DOUBLE, MPI_PROC_NULL, 0, 4, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
    MPI_Fetch_and_op(&one, &old, MPI_DOUBLE, next, 0, MPI_SUM, window), note(fetched, there, 8);
    MPI_Win_unlock(next, window);
    MPI_Win_free(&window);
    MPI_Comm_free(&part);
}

static void intercommunicator(void) {
    MPI_Comm half, bridge;
    int mine, n;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 9, &bridge);
    MPI_Comm_rank(half, &mine);
    MPI_Comm_size(half, &n);
    const int other = n - 1 - mine, there = other * 2 + (1 - me % 2);
    MPI_Sendrecv(out, 11, MPI_INT, other, 1, in, 11, MPI_INT, other, 1, bridge, MPI_STATUS_IGNORE);
    note(sent, there, 44), note(received, there, 44);
    MPI_Comm_free(&bridge);
    MPI_Comm_free(&half);
}

static void matched(void) {
    MPI_Comm part;
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    int n, mine;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &part);
    MPI_Comm_size(part, &n);
    MPI_Comm_rank(part, &mine);
    const int next = (mine + 1) % n, before = (mine + n - 1) % n;
    for (int i = 0; i < 6; ++i) {
        MPI_Isend(out, 9, MPI_INT, next, 1, part, &request), note(sent, world_of(part, next), 36);
        MPI_Mprobe(i % 2 ? MPI_ANY_SOURCE : before, 1, part, &message, i % 3 ? &status : MPI_STATUS_IGNORE);
        if (i < 4) {
            MPI_Mrecv(in, 20, MPI_INT, &message, i % 3 ? MPI_STATUS_IGNORE : &status),
                note(received, world_of(part, before), 36);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Request receive;
            MPI_Imrecv(in, 20, MPI_INT, &message, &receive), note(received, world_of(part, before), 80);
            MPI_Wait(&receive, MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    MPI_Comm_free(&part);
}

/* Communicators whose ranks are those of another one, that has the world's ranks in their order or in the opposite one.
 */
static void around(MPI_Comm comm) {
    int n, mine;
    if (comm == MPI_COMM_NULL) return;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &mine);
    const int next = (mine + 1) % n, before = (mine + n - 1) % n;
    for (int i = 0; i < 2; ++i) {
        MPI_Sendrecv(out, 13, MPI_INT, next, 1, in, 13, MPI_INT, i ? MPI_ANY_SOURCE : before, 1, comm,
                     MPI_STATUS_IGNORE);
        note(sent, world_of(comm, next), 52), note(received, world_of(comm, before), 52);
    }
    MPI_Sendrecv(out, 3, MPI_INT, MPI_PROC_NULL, 2, in, 3, MPI_INT, MPI_PROC_NULL, 2, comm, MPI_STATUS_IGNORE);
}

static void alike(void) {
    MPI_Comm parents[2], made[5];
    MPI_Comm_dup(MPI_COMM_WORLD, &parents[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &parents[1]);
    for (int p = 0; p < 2; ++p) {
        int dims[1] = {ranks - 1}, periods[1] = {1}, n, index[most], edges[most], mine;
        MPI_Comm_rank(parents[p], &mine);
        for (n = 0; n < ranks; ++n) index[n] = n + 1, edges[n] = (n + 1) % ranks;
        const int next = (mine + 1) % ranks, before = (mine + ranks - 1) % ranks;
        MPI_Cart_create(parents[p], 1, dims, periods, 0, &made[0]);
        MPI_Graph_create(parents[p], ranks, index, edges, 0, &made[1]);
        MPI_Dist_graph_create_adjacent(parents[p], 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                       0, &made[2]);
        MPI_Comm_dup(made[2], &made[3]);
        MPI_Comm_split(parents[p], 0, -mine, &made[4]);
        around(parents[p]);
        for (int i = 0; i < 5; ++i) around(made[i]);
        for (int i = 0; i < 5; ++i)
            if (made[i] != MPI_COMM_NULL) MPI_Comm_free(&made[i]);
    }
    for (int p = 0; p < 2; ++p) MPI_Comm_free(&parents[p]);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ring();
    halo();
    rows_and_columns();
    alike();
    MPI_Barrier(MPI_COMM_WORLD);
    master_and_workers();
    MPI_Barrier(MPI_COMM_WORLD);
    persistent();
    cancelled();
    gone();
    one_sided();
    intercommunicator();
    matched();
    MPI_Barrier(MPI_COMM_WORLD);
    char name[40];
    sprintf(name, "expected.%d.txt", me);
    FILE* file = fopen(name, "w");
    for (int kind = 0; kind < kinds; ++kind)
        for (int rank = 0; rank < ranks; ++rank)
            if (messages[kind][rank])
                fprintf(file, "%s %d %ld %ld\n", names[kind], rank, messages[kind][rank], bytes[kind][rank]);
    if (any_messages) fprintf(file, "any 0 %ld %ld\n", any_messages, any_bytes);
    fclose(file);
    MPI_Finalize();
    return 0;
}
