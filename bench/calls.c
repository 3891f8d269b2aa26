// The work that bench/ measures: cheap MPI calls, one kind per case, so that what a preloaded library adds stands out.
//   calls list                    the cases: name, ranks, MPI calls in one round, what they are
//   calls time CASE ROUNDS BLOCKS wall time: BLOCKS blocks of ROUNDS rounds each (rank 0 prints)
//   calls count ROUNDS CASE...    under callgrind: one dump per case, of ROUNDS rounds each
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { largest = 1 << 16 };
static int rank, size;
static double out[largest], in[largest];

static void no_call(void) { __asm__ volatile("" ::: "memory"); }
static void comm_rank(void) {
    int r;
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
}
static void allreduce_self(void) { MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF); }
static void allreduce_sizes(void) {
    static const int counts[] = {1, 4, 16, 64};  // small: what copying takes would end bins of time
    for (int i = 0; i < 4; i++) MPI_Allreduce(out, in, counts[i], MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}
static void allreduce_sites(void) {
    MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}
__attribute__((noinline)) static void sum_up(void) {
    MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    no_call();
}
static void allreduce_callers(void) {
    sum_up(), no_call();
    sum_up(), no_call();
    sum_up(), no_call();
    sum_up(), no_call();
}
static void allreduce_two_callers(void) {
    sum_up(), no_call();
    sum_up(), no_call();
}
// As many callers behind one function as the name says: each its own return address.
#define FOUR(x) x x x x
#define SIXTEEN(x) FOUR(FOUR(x))
#define THREE_HUNDRED(x) SIXTEEN(SIXTEEN(x)) SIXTEEN(x x) SIXTEEN(x) /* 256 + 32 + 16 */
static void allreduce_16_callers(void) { SIXTEEN(sum_up(); no_call();) }
static void allreduce_304_callers(void) { THREE_HUNDRED(sum_up(); no_call();) }
// The same function, and the same call, from ten depths.
__attribute__((noinline)) static void deeper(int n) {
    MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    if (n > 1) deeper(n - 1);
    no_call();
}
static void recursion(void) { deeper(10); }
// Calls that are new to the library. A thousand functions with one call each, which one function each calls below a few
// more frames; each body is its own, or the compiler would make one of all.
static int at_count = 1;
static MPI_Comm at_comm;
#define PLACE(n)                                                        \
    __attribute__((noinline)) static void place_##n(void) {             \
        MPI_Allreduce(out, in, at_count, MPI_DOUBLE, MPI_SUM, at_comm); \
        __asm__ volatile("" : : "i"(1##n) : "memory");                  \
    }                                                                   \
    __attribute__((noinline)) static void caller_##n(void) {            \
        place_##n();                                                    \
        __asm__ volatile("" : : "i"(1##n) : "memory");                  \
    }
#define NAME(n) caller_##n,
#define TEN(x, n) x(n##0) x(n##1) x(n##2) x(n##3) x(n##4) x(n##5) x(n##6) x(n##7) x(n##8) x(n##9)
#define HUNDRED(x, n) \
    TEN(x, n##0)      \
    TEN(x, n##1) TEN(x, n##2) TEN(x, n##3) TEN(x, n##4) TEN(x, n##5) TEN(x, n##6) TEN(x, n##7) TEN(x, n##8) TEN(x, n##9)
#define THOUSAND(x) \
    HUNDRED(x, 0)   \
    HUNDRED(x, 1)   \
    HUNDRED(x, 2) HUNDRED(x, 3) HUNDRED(x, 4) HUNDRED(x, 5) HUNDRED(x, 6) HUNDRED(x, 7) HUNDRED(x, 8) HUNDRED(x, 9)
THOUSAND(PLACE)
static void (*const places[])(void) = {THOUSAND(NAME)};
enum { n_places = sizeof places / sizeof places[0], frames_between = 5 };
__attribute__((noinline)) static void below(int frames, int place) {
    if (frames > 0)
        below(frames - 1, place);
    else
        places[place % n_places]();
    no_call();
}
static void call_from(int place, int count, MPI_Comm comm) {
    at_count = count;
    at_comm = comm;
    below(frames_between, place);
}
static void new_places(void) {
    static int place = 0;
    call_from(place++, 1, MPI_COMM_SELF);
}
// A hundred places, which the first hundred rounds make known; each hundred more has another size, or communicator.
enum { known_places = 100 };
static void new_sizes(void) {
    static int round = 0;
    call_from(round % known_places, 1 << round / known_places % 16, MPI_COMM_SELF);
    round++;
}
static void new_communicators(void) {
    static MPI_Comm comms[16];
    static int round = 0;
    if (round == 0)
        for (int i = 0; i < 16; i++) MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
    call_from(round % known_places, 1, comms[round / known_places % 16]);
    round++;
}
// As BLACS does it for each message: a datatype is made, used once and freed.
static void freed_types(void) {
    MPI_Datatype type;
    MPI_Type_vector(4, 2, 8, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Bcast(out, 1, type, 0, MPI_COMM_SELF);
    MPI_Type_free(&type);
}
static void freed_communicators(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
}
static void bcast_self(void) { MPI_Bcast(out, 1, MPI_DOUBLE, 0, MPI_COMM_SELF); }
static void gather_self(void) { MPI_Gather(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, 0, MPI_COMM_SELF); }
static void barrier_self(void) { MPI_Barrier(MPI_COMM_SELF); }
static void nonblocking(void) {
    MPI_Request both[2];
    MPI_Irecv(in, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &both[0]);
    MPI_Isend(out, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &both[1]);
    static MPI_Status statuses[2];
    MPI_Waitall(2, both, statuses);
}
// Open MPI gives all sends that are complete at once one handle.
static void halo(void) {
    enum { sides = 3 };
    MPI_Request all[2 * sides];
    for (int i = 0; i < sides; i++) MPI_Irecv(in + i, 1, MPI_DOUBLE, 0, i, MPI_COMM_SELF, &all[i]);
    for (int i = 0; i < sides; i++) MPI_Isend(out + i, 1, MPI_DOUBLE, 0, i, MPI_COMM_SELF, &all[sides + i]);
    static MPI_Status statuses[2 * sides];
    MPI_Waitall(2 * sides, all, statuses);
}
static void iprobe(void) {
    int found;
    MPI_Iprobe(0, 2, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
}
static void test(void) {
    static MPI_Request never = MPI_REQUEST_NULL;
    int done;
    MPI_Test(&never, &done, MPI_STATUS_IGNORE);
}
static void pingpong(void) {
    if (rank == 0) MPI_Send(out, 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
    if (rank <= 1) MPI_Recv(in, 1, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(out, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
}
static void send(void) {
    if (rank == 0) MPI_Send(out, 1, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(in, 1, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void receive(void) {
    if (rank == 0) MPI_Recv(in, 1, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(out, 1, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD);
}
static void allreduce(void) { MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
// One step of data-parallel training: negotiation by small messages, then gradients.
static void training_step(void) {
    static const int gradients[] = {64, 705, 9391};
    for (int i = 0; i < 31; i++) MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(out, 4, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Gather(out, 4, MPI_BYTE, in, 4, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) MPI_Allreduce(out, in, gradients[i], MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const struct {
    const char* name;
    int ranks, calls;
    void (*round)(void);
    const char* what;
} cases[] = {
    {"none", 1, 1, no_call, "an empty function"},
    {"comm_rank", 1, 1, comm_rank, "a counted call"},
    {"allreduce_self", 1, 1, allreduce_self, "MPI_Allreduce of 8 B on MPI_COMM_SELF"},
    {"allreduce_sites", 1, 4, allreduce_sites, "the same from four places in turn"},
    {"allreduce_sizes", 1, 4, allreduce_sizes, "four sizes in turn from one place"},
    {"allreduce_callers", 1, 4, allreduce_callers, "the same from one function with four callers"},
    {"two_callers", 1, 2, allreduce_two_callers, "the same from one function with two callers"},
    {"16_callers", 1, 16, allreduce_16_callers, "with sixteen"},
    {"304_callers", 1, 304, allreduce_304_callers, "with 304, which is more than a thread remembers at first"},
    {"recursion", 1, 10, recursion, "from ten depths of a recursion"},
    {"freed_types", 1, 4, freed_types, "MPI_Type_vector, _commit, MPI_Bcast, MPI_Type_free: all four"},
    {"freed_comms", 1, 3, freed_communicators, "MPI_Comm_dup, MPI_Barrier, MPI_Comm_free: all three"},
    {"new_places", 1, 1, new_places, "MPI_Allreduce of 8 B, each time from a place that was not met before"},
    {"new_sizes", 1, 1, new_sizes, "the same from known places, each time with a size that is new there"},
    {"new_comms", 1, 1, new_communicators, "the same with a communicator that is new there"},
    {"bcast_self", 1, 1, bcast_self, "MPI_Bcast of 8 B"},
    {"gather_self", 1, 1, gather_self, "MPI_Gather of 8 B: its size needs several arguments"},
    {"barrier_self", 1, 1, barrier_self, "MPI_Barrier"},
    {"nonblocking", 1, 3, nonblocking, "MPI_Irecv, MPI_Isend, MPI_Waitall of both"},
    {"halo", 1, 7, halo, "three of each, MPI_Waitall of all six"},
    {"iprobe", 1, 1, iprobe, "MPI_Iprobe, nothing there"},
    {"test", 1, 1, test, "MPI_Test of a null request"},
    {"send", 2, 1, send, "MPI_Send of 8 B to the other rank"},
    {"receive", 2, 1, receive, "MPI_Recv of 8 B from the other rank, without a status"},
    {"pingpong", 2, 2, pingpong, "MPI_Send and MPI_Recv of 8 B between two ranks"},
    {"allreduce", 2, 1, allreduce, "MPI_Allreduce of 8 B between two ranks"},
    {"training_step", 2, 36, training_step, "31 small Allreduces, Bcast, Gather, three gradients"},
};
enum { n_cases = sizeof cases / sizeof cases[0] };

static const char program[] = "calls";
#include "bench/cases.h"

static int ascending(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void measure(int k, int rounds, int blocks, double init_ns) {
    double* block = calloc((size_t)blocks, sizeof *block);
    for (int i = 0; i < warm_up; i++) cases[k].round();
    for (int b = 0; b < blocks; b++) {
        const double began = ns();
        for (int i = 0; i < rounds; i++) cases[k].round();
        block[b] = (ns() - began) / rounds;
    }
    qsort(block, (size_t)blocks, sizeof *block, ascending);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const double began = ns();
    MPI_Finalize();
    if (rank == 0)
        printf("measured fastest_ns=%.2f median_ns=%.2f init_ms=%.3f finalize_ms=%.3f rss_kib=%ld\n", block[0],
               block[blocks / 2], init_ns / 1e6, (ns() - began) / 1e6, usage.ru_maxrss);
    free(block);
}

int main(int argc, char** argv) {
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        for (int i = 0; i < n_cases; i++)
            printf("%s|%d|%d|%s\n", cases[i].name, cases[i].ranks, cases[i].calls, cases[i].what);
        return 0;
    }
    const int is_count = argc > 3 && strcmp(argv[1], "count") == 0;
    if (!is_count && !(argc == 5 && strcmp(argv[1], "time") == 0)) {
        fprintf(stderr, "usage: calls list | time CASE ROUNDS BLOCKS | count ROUNDS CASE...\n");
        return 2;
    }
    // With a GPU it is initialised before MPI is, as by programs that send from its memory.
    int (*const init_gpu)(void*) = of_driver("cuInit");
    if (init_gpu) init_gpu(NULL);
    const double began = ns();
    MPI_Init(&argc, &argv);
    const double init_ns = ns() - began;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!is_count) {
        measure(find(argv[2]), atoi(argv[3]), atoi(argv[4]), init_ns);
        return 0;
    }
    count(atoi(argv[2]), argv + 3, argc - 3, NULL);
    MPI_Finalize();
    return 0;
}
