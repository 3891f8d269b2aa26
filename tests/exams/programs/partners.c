// Programs in which ranks wait for a partner: for one that is not inside MPI, a lock, a target, a turn, a pipeline.
//   partners NAME STEPS
#include "exam.h"

#define LARGE (1 << 20)
static char out[LARGE], in[LARGE];
static int partner(void) { return rank ^ 1; }

// The receive is posted early, and nothing moves before its rank is inside MPI again; both have as much to do.
static void late_wait(void) {
    for (int i = 0; i < steps; ++i) {
        if (rank % 2 == 0) {
            MPI_Send(out, LARGE, MPI_CHAR, partner(), 0, MPI_COMM_WORLD);
            work(8);
        } else {
            MPI_Request request;
            MPI_Irecv(in, LARGE, MPI_CHAR, partner(), 0, MPI_COMM_WORLD, &request);
            work(8);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

// Messages a little too large to leave at once.
static void above_eager(void) {
    for (int i = 0; i < steps; ++i) {
        if (rank % 2 == 0) {
            MPI_Send(out, 40000, MPI_CHAR, partner(), 0, MPI_COMM_WORLD);
            work(8);
        } else {
            work(8);
            MPI_Recv(in, 40000, MPI_CHAR, partner(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

// The same program with messages that leave at once: nobody waits.
static void below_eager(void) {
    for (int i = 0; i < steps; ++i) {
        if (rank % 2 == 0) {
            MPI_Send(out, 1000, MPI_CHAR, partner(), 0, MPI_COMM_WORLD);
            work(8);
        } else {
            work(8);
            MPI_Recv(in, 1000, MPI_CHAR, partner(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

// Synchronous sends to one that has something else to do first.
static void ssends(void) {
    for (int i = 0; i < steps; ++i) {
        if (rank % 2 == 0) {
            MPI_Ssend(out, 8, MPI_CHAR, partner(), 0, MPI_COMM_WORLD);
            work(6);
        } else {
            work(6);
            MPI_Recv(in, 8, MPI_CHAR, partner(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

// What is received first is sent last: both work as long, one after the other.
static void late_senders(void) {
    for (int i = 0; i < steps; ++i) {
        if (rank % 2 == 0) {
            work(8);
            MPI_Send(out, 100, MPI_CHAR, partner(), 0, MPI_COMM_WORLD);
            MPI_Recv(in, 100, MPI_CHAR, partner(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, 100, MPI_CHAR, partner(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work(8);
            MPI_Send(out, 100, MPI_CHAR, partner(), 0, MPI_COMM_WORLD);
        }
    }
}

// All put into the memory of a rank that is outside MPI. What they do afterwards takes as long.
static void passive_target(void) {
    MPI_Win window;
    MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < steps; ++i) {
        if (rank == 0) {
            work(12);
        } else {
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
            MPI_Put(out, 8, MPI_CHAR, 0, 8 * rank, 8, MPI_CHAR, window);
            MPI_Win_unlock(0, window);
            work(12);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&window);
}

// Each holds an exclusive lock for as long as it works.
static void held_lock(void) {
    MPI_Win window;
    MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < steps; ++i) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, 0, window);
        MPI_Put(out, 8, MPI_CHAR, size - 1, 0, 8, MPI_CHAR, window);
        work(3);
        MPI_Win_unlock(size - 1, window);
        work(1);
    }
    MPI_Win_free(&window);
}

// Each prints when it is its turn, with a barrier behind each turn.
static void output_in_turn(void) {
    for (int i = 0; i < steps; ++i) {
        work(5);
        for (int turn = 0; turn < size; ++turn) {
            if (turn == rank) work(4);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
}

// Few blocks go through all ranks, and the pipeline runs empty after each sweep.
static void pipeline_fill(void) {
    for (int i = 0; i < steps; ++i) {
        for (int block = 0; block < 3; ++block) {
            if (rank > 0) MPI_Recv(in, 1000, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work(4);
            if (rank < size - 1) MPI_Send(out, 1000, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
        }
        SUM_UP(MPI_COMM_WORLD);
    }
}

// A sum by hand: rank 0 takes a message of each, works on it, and sends the result to all.
static void sum_by_hand(void) {
    for (int i = 0; i < steps; ++i) {
        work(2);
        if (rank == 0) {
            for (int from = 1; from < size; ++from) {
                MPI_Recv(in, 1000, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                work(3);
            }
            for (int to = 1; to < size; ++to) MPI_Send(out, 1000, MPI_CHAR, to, 1, MPI_COMM_WORLD);
        } else {
            MPI_Send(out, 1000, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
            MPI_Recv(in, 1000, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

// Neighbours alone depend on each other; a barrier makes each wait for the latest of all.
static void needless_barrier(void) {
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < steps; ++i) {
        work(3 + 10 * jitter(i));
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Sendrecv(out, 1000, MPI_CHAR, right, 0, in, 1000, MPI_CHAR, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

// Each node of a tree waits for those below it: the root is last, and all wait for its answer.
static void tree(void) {
    for (int i = 0; i < steps; ++i) {
        if (rank % 2 == 0)
            MPI_Recv(in, 100, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            work(4);
        if (rank % 2 == 1) MPI_Send(out, 100, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD);
        if (rank % 2 == 0) work(4);
        MPI_Bcast(out, 100, MPI_CHAR, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv) {
    static const struct program programs[] = {{"late_wait", late_wait, NULL},
                                              {"above_eager", above_eager, NULL},
                                              {"below_eager", below_eager, NULL},
                                              {"ssends", ssends, NULL},
                                              {"late_senders", late_senders, NULL},
                                              {"passive_target", passive_target, NULL},
                                              {"held_lock", held_lock, NULL},
                                              {"output_in_turn", output_in_turn, NULL},
                                              {"pipeline_fill", pipeline_fill, NULL},
                                              {"sum_by_hand", sum_by_hand, NULL},
                                              {"needless_barrier", needless_barrier, NULL},
                                              {"tree", tree, NULL}};
    return run_program(argc, argv, programs, COUNT(programs));
}
