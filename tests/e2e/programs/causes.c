// Small programs with one known cause of lost time each: what the first line of the report has to name.
//   causes CAUSE STEPS [sleep]    work is done by a processor, or slept through
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size, steps, sleeps;
static volatile double sink;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void work(double ms) {
    if (sleeps) {
        usleep((useconds_t)(1000 * ms));
        return;
    }
    for (const double end = now() + ms / 1000; now() < end;)
        for (int i = 0; i < 1000; ++i) sink += i;
}

// So much of the processor, however long that takes.
static void compute(double ms) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    const double end = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + ms / 1000;
    while ((double)t.tv_sec + 1e-9 * (double)t.tv_nsec < end) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
}

static void sum_up(MPI_Comm comm) {
    double mine = rank, all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
}

// A number that looks drawn, the same on all ranks.
static unsigned drawn(unsigned step) { return (step * 2654435761u) >> 8; }

static void halo(void) {
    static char out[4096], in[4096];
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, right, 0, in, sizeof in, MPI_CHAR, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void healthy(void) {
    for (int i = 0; i < steps; ++i) {
        work(10);
        halo();
        if (i % 10 == 0) sum_up(MPI_COMM_WORLD);
    }
}

// The last rank takes 60 % longer.
static void slow_rank(void) {
    for (int i = 0; i < steps; ++i) {
        work(rank == size - 1 ? 16 : 10);
        sum_up(MPI_COMM_WORLD);
    }
}

// Ranks 1 and 2 do so from the middle on.
static void slow_later(void) {
    for (int i = 0; i < steps; ++i) {
        work((rank == 1 || rank == 2) && i >= steps / 2 ? 16 : 10);
        sum_up(MPI_COMM_WORLD);
    }
}

// The ranks of a node whose name ends with 2 do so from the middle on.
static void slow_node(void) {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    const int is_slow = host[0] && host[strlen(host) - 1] == '2';
    for (int i = 0; i < steps; ++i) {
        work(is_slow && i >= steps / 2 ? 16 : 10);
        sum_up(MPI_COMM_WORLD);
    }
}

// Each rank has more to do than the one before it.
static void growing(void) {
    for (int i = 0; i < steps; ++i) {
        work(5 + 5 * rank);
        sum_up(MPI_COMM_WORLD);
    }
}

// Another rank is late each time.
static void varying(void) {
    for (int i = 0; i < steps; ++i) {
        work((int)(drawn((unsigned)i) % (unsigned)size) == rank ? 15 : 5);
        sum_up(MPI_COMM_WORLD);
    }
}

// Another rank is late in each part of the run.
static void moving(void) {
    for (int i = 0; i < steps; ++i) {
        work(i * size / steps == rank ? 15 : 5);
        sum_up(MPI_COMM_WORLD);
    }
}

// Each waits for the one before it.
static void chain(void) {
    char token = 0;
    for (int i = 0; i < steps; ++i) {
        if (rank > 0 || i > 0)
            MPI_Recv(&token, 1, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(5);
        if (rank < size - 1 || i < steps - 1) MPI_Send(&token, 1, MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD);
    }
}

// Rank 0 has an answer for each, one after the other.
static void serving(void) {
    double question = rank, answer;
    if (rank == 0) {
        for (int i = 0; i < steps * (size - 1); ++i) {
            MPI_Status from;
            MPI_Recv(&question, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &from);
            work(4);
            MPI_Send(&question, 1, MPI_DOUBLE, from.MPI_SOURCE, 0, MPI_COMM_WORLD);
        }
        return;
    }
    for (int i = 0; i < steps; ++i) {
        work(3);
        MPI_Send(&question, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&answer, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

// Pairs of ranks exchange 8 bytes at a time.
static void small_messages(void) {
    double one = rank;
    const int other = rank ^ 1;
    if (other >= size) return;
    for (int i = 0; i < steps * 1000; ++i)
        if (rank < other)
            MPI_Send(&one, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&one, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void cheap_calls(void) {
    int n, total = 0;
    for (int i = 0; i < steps; ++i) {
        for (int j = 0; j < 1000000; ++j) {
            MPI_Comm_size(MPI_COMM_WORLD, &n);
            total += n;
        }
        sum_up(MPI_COMM_WORLD);
    }
    sink += total;
}

// The last rank is late, and the others ask again and again.
static void polling(void) {
    for (int i = 0; i < steps; ++i) {
        MPI_Request request;
        int is_done = 0;
        work(rank == size - 1 ? 16 : 10);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        while (!is_done) MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    }
}

// The upper half, with a communicator of its own, has more to do.
static void halves(void) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank >= size / 2, rank, &half);
    for (int i = 0; i < steps; ++i) {
        for (int j = 0; j < (rank >= size / 2 ? 4 : 2); ++j) {
            work(4);
            sum_up(half);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&half);
}

static volatile int is_done;

#include "cause_inside.h"
#include "cause_threads.h"

// Much is moved, and nobody is late.
static void transfers(void) {
    const int bytes = 4 << 20;
    char* out = calloc((size_t)size, (size_t)bytes);
    char* in = calloc((size_t)size, (size_t)bytes);
    for (int i = 0; i < steps; ++i) MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
    free(out);
    free(in);
}

// Rank 1 does something more every tenth time.
static void periodic(void) {
    for (int i = 0; i < steps; ++i) {
        work(rank == 1 && i % 10 == 9 ? 60 : 5);
        sum_up(MPI_COMM_WORLD);
    }
}

// Nobody stands out, and they are not alike.
static void uneven(void) {
    static const double ms[] = {6, 14, 10, 12};
    for (int i = 0; i < steps; ++i) {
        work(ms[rank % 4]);
        sum_up(MPI_COMM_WORLD);
    }
}

// A file is written by all, 8 MiB by each.
static void files(void) {
    const int bytes = 8 << 20;
    char* out = calloc(1, (size_t)bytes);
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, "causes.out", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    for (int i = 0; i < steps; ++i) {
        work(1);
        MPI_File_write_at_all(file, (MPI_Offset)rank * bytes, out, bytes, MPI_CHAR, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
    free(out);
}

// A communicator for each sum.
static void duplicates(void) {
    for (int i = 0; i < steps; ++i) {
        MPI_Comm copy;
        if (i % 200 == 0) work(1);
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        sum_up(copy);
        MPI_Comm_free(&copy);
    }
}

// Each waits for the one before it, once in a step, and all for the last.
static void wavefront(void) {
    char token = 0;
    for (int i = 0; i < steps; ++i) {
        if (rank > 0) MPI_Recv(&token, 1, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(5);
        if (rank < size - 1) MPI_Send(&token, 1, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

// Whoever waits asks, and lets others have the processor.
static void yields(void) {
    for (int i = 0; i < steps; ++i) {
        work(10);
        for (int j = 0; j < 20; ++j) sched_yield();
        if (i % 10 == 0) sum_up(MPI_COMM_WORLD);
    }
}

// Everybody asks all the time whether there is a message, which there never is.
static void asking(void) {
    for (int i = 0; i < steps; ++i) {
        int is_there = 0;
        for (const double end = now() + 0.01; now() < end && !is_there;)
            MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
        sum_up(MPI_COMM_WORLD);
    }
}

// So much to compute that it takes as long as it takes, however many ranks share a processor.
static void crowd(void) {
    for (int i = 0; i < steps; ++i) {
        for (int j = 0; j < 5000000; ++j) sink += j;
        sum_up(MPI_COMM_WORLD);
    }
}

static void* computing(void* ms) {
    work(*(const double*)ms);
    return NULL;
}

// The work is done by two threads of each rank, and the last rank has more of it.
static void threads(void) {
    for (int i = 0; i < steps; ++i) {
        double ms = rank == size - 1 ? 16 : 10;
        pthread_t other;
        pthread_create(&other, NULL, computing, &ms);
        work(ms);
        pthread_join(other, NULL);
        sum_up(MPI_COMM_WORLD);
    }
}

// All compute alike; the last one is in a cgroup of little quota.
static void throttled(void) {
    for (int i = 0; i < steps; ++i) {
        compute(10);
        sum_up(MPI_COMM_WORLD);
    }
}
static void enter_cgroup(const char* directory) {
    char path[1024];
    snprintf(path, sizeof path, "%s/cgroup.procs", directory);
    FILE* file = fopen(path, "w");
    if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void killed(void) {
    for (int i = 0; i < steps; ++i) {
        work(10);
        if (rank == 1 && i == steps / 2) raise(SIGKILL);
        sum_up(MPI_COMM_WORLD);
    }
}

static void aborted(void) {
    for (int i = 0; i < steps; ++i) {
        work(10);
        if (rank == 2 && i == steps / 2) MPI_Abort(MPI_COMM_WORLD, 7);
        sum_up(MPI_COMM_WORLD);
    }
}

static const struct {
    const char* name;
    void (*run)(void);
} causes[] = {{"healthy", healthy},
              {"slow_rank", slow_rank},
              {"slow_later", slow_later},
              {"growing", growing},
              {"varying", varying},
              {"moving", moving},
              {"chain", chain},
              {"serving", serving},
              {"small_messages", small_messages},
              {"cheap_calls", cheap_calls},
              {"polling", polling},
              {"halves", halves},
              {"beside", beside},
              {"elsewhere", elsewhere},
              {"handed_over", handed_over},
              {"transfers", transfers},
              {"killed", killed},
              {"aborted", aborted},
              {"late_in_init", healthy},
              {"periodic", periodic},
              {"uneven", uneven},
              {"files", files},
              {"yields", yields},
              {"asking", asking},
              {"threads", threads},
              {"crowd", crowd},
              {"slow_node", slow_node},
              {"duplicates", duplicates},
              {"throttled", throttled},
              {"wavefront", wavefront},
              {"one_exchanges", one_exchanges},
              {"one_writes", one_writes},
              {"two_exchange", two_exchange},
              {"late_in_finalize", late_in_finalize},
              {"two_in_turn", two_in_turn}};

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    steps = atoi(argv[2]);
    sleeps = argc > 3;
    // The launchers' variables, since MPI_Comm_rank is not there yet.
    const char* number = getenv("OMPI_COMM_WORLD_RANK");
    if (!number) number = getenv("PMI_RANK");
    if (strcmp(argv[1], "late_in_init") == 0 && number && atoi(number) == 1) sleep(3);
    if (strcmp(argv[1], "throttled") == 0 && number && atoi(number) == 1) enter_cgroup(getenv("CGROUP"));
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof causes / sizeof *causes; ++i)
        if (strcmp(argv[1], causes[i].name) == 0) causes[i].run();
    MPI_Finalize();
    return 0;
}
