// Programs that are healthy or merely uneven: nobody may be accused. With those of nodes, of which one may have more to
// do.
//   fair NAME STEPS
#include "exam.h"

static char out[1 << 16], in[1 << 16];

static int node_number(void) {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    return host[0] ? host[strlen(host) - 1] - '0' : 0;
}

static void swap_with_neighbours(int bytes) {
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Sendrecv(out, bytes, MPI_CHAR, right, 0, in, bytes, MPI_CHAR, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Equal work, neighbours, and a sum now and then.
static void stencil(void) {
    for (int i = 0; i < steps; ++i) {
        work(8);
        swap_with_neighbours(4096);
        if (i % 10 == 0) SUM_UP(MPI_COMM_WORLD);
    }
}

// A little up and down, a sum now and then.
static void mild_jitter(void) {
    for (int i = 0; i < steps; ++i) {
        work(8 + 0.5 * jitter(i));
        if (i % 20 == 0) SUM_UP(MPI_COMM_WORLD);
    }
}

// Three hundredths more on one rank.
static void a_little_more(void) {
    for (int i = 0; i < steps; ++i) {
        work(rank == 1 ? 8.25 : 8);
        if (i % 10 == 0) SUM_UP(MPI_COMM_WORLD);
    }
}

// What moves does so while they work.
static void overlapped(void) {
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < steps; ++i) {
        MPI_Request requests[2];
        MPI_Irecv(in, 2000, MPI_CHAR, left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, 2000, MPI_CHAR, right, 0, MPI_COMM_WORLD, &requests[1]);
        work(8);
        MPI_Status statuses[2];
        MPI_Waitall(2, requests, statuses);
    }
}

// A sum that is asked for long before it is needed.
static void early_sum(void) {
    for (int i = 0; i < steps; ++i) {
        MPI_Request request;
        MPI_Iallreduce(&one, &all_of_them, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        work(8 + jitter(i));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

// Halves with communicators of their own, as much to do in each.
static void equal_halves(void) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank, &half);
    for (int i = 0; i < steps; ++i) {
        work(7);
        SUM_UP(half);
        if (i % 20 == 0) MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&half);
}

// Windows and fences.
static void fences(void) {
    MPI_Win window;
    MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < steps; ++i) {
        MPI_Win_fence(0, window);
        MPI_Put(out, 1000, MPI_CHAR, (rank + 1) % size, 0, 1000, MPI_CHAR, window);
        work(8);
        MPI_Win_fence(0, window);
    }
    MPI_Win_free(&window);
}

// A file that all write now and then.
static void rare_checkpoints(void) {
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, "exam.out", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    for (int i = 0; i < steps; ++i) {
        work(8);
        if (i % 25 == 0) MPI_File_write_at(file, (MPI_Offset)rank * 4096, out, 4096, MPI_CHAR, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

// A master that only waits for those who work alike: uneven by design.
static void idle_master(void) {
    for (int i = 0; i < steps; ++i)
        if (rank == 0) {
            for (int from = 1; from < size; ++from)
                MPI_Recv(in, 100, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            work(8);
            MPI_Send(out, 100, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
}

// Each has another share of the domain: 6, 8, 9 and 7.
static void uneven_domain(void) {
    static const double ms[] = {6, 8, 9, 7};
    for (int i = 0; i < steps; ++i) {
        work(ms[rank % 4]);
        SUM_UP(MPI_COMM_WORLD);
    }
}

// The ranks of one node have the larger part of the domain: whether it is the node one run cannot tell.
static void uneven_nodes(void) {
    for (int i = 0; i < steps; ++i) {
        work(node_number() == 2 ? 10 : 7);
        SUM_UP(MPI_COMM_WORLD);
    }
}

// One rank of two nodes of two has more to do: its node is not slow.
static void one_of_a_node(void) {
    for (int i = 0; i < steps; ++i) {
        work(rank == 3 ? 11 : 7);
        SUM_UP(MPI_COMM_WORLD);
    }
}

// The first rank of each node has more to do: no node is slow.
static void first_of_each_node(void) {
    for (int i = 0; i < steps; ++i) {
        work(rank % 2 == 0 ? 11 : 7);
        SUM_UP(MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv) {
    static const struct program programs[] = {{"stencil", stencil, NULL},
                                              {"mild_jitter", mild_jitter, NULL},
                                              {"a_little_more", a_little_more, NULL},
                                              {"overlapped", overlapped, NULL},
                                              {"early_sum", early_sum, NULL},
                                              {"equal_halves", equal_halves, NULL},
                                              {"fences", fences, NULL},
                                              {"rare_checkpoints", rare_checkpoints, NULL},
                                              {"idle_master", idle_master, NULL},
                                              {"uneven_domain", uneven_domain, NULL},
                                              {"uneven_nodes", uneven_nodes, NULL},
                                              {"one_of_a_node", one_of_a_node, NULL},
                                              {"first_of_each_node", first_of_each_node, NULL}};
    return run_program(argc, argv, programs, COUNT(programs));
}
