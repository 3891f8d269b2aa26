// Programs whose loss is one of the whole process: before MPI_Init, after the last message, in what is started, in
// other threads, while they ask.
//   process NAME STEPS
#include <pthread.h>
#include <sched.h>

#include "exam.h"

static void even(void) {
    for (int i = 0; i < steps; ++i) {
        work(8);
        SUM_UP(MPI_COMM_WORLD);
    }
}

// One reads its input before MPI_Init, the others have none.
static void long_input(void) {
    if (rank_before_init() == 2) usleep(1500000);
}

// All of them do; nobody waits.
static void input_of_all(void) { usleep(1000000); }

// Rank 0 has something to write after all others are done.
static void written_at_the_end(void) {
    even();
    if (rank == 0) work(1500);
}

// Others are started.
static void spawning(void) {
    MPI_Comm workers;
    char self[4096] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return;
    char* arguments[] = {"spawned", "1", NULL};
    even();
    MPI_Comm_spawn(self, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &workers, MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&workers);
}
static void spawned(void) {
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    MPI_Comm_disconnect(&parent);
}

static volatile int is_over;
static void* take_a_processor(void* nothing) {
    while (!is_over) continue;
    return nothing;
}

// So much of the processor, however long that takes.
static void compute(double ms) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    const double end = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + ms / 1000;
    while ((double)t.tv_sec + 1e-9 * (double)t.tv_nsec < end) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
}

// All compute alike, and threads of the last rank take the processors of the others.
static void greedy_threads(void) {
    pthread_t threads[4];
    if (rank == size - 1)
        for (size_t i = 0; i < COUNT(threads); ++i) pthread_create(&threads[i], NULL, take_a_processor, NULL);
    for (int i = 0; i < steps; ++i) {
        compute(5);
        SUM_UP(MPI_COMM_WORLD);
    }
    is_over = 1;
    if (rank == size - 1)
        for (size_t i = 0; i < COUNT(threads); ++i) pthread_join(threads[i], NULL);
}

// Whoever waits asks, and sleeps a little between.
static void asks_and_sleeps(void) {
    for (int i = 0; i < steps; ++i) {
        MPI_Request request;
        int is_done = 0;
        work(rank == size - 1 ? 14 : 7);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        for (; !is_done; usleep(300)) MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    }
}

// A master that asks all the time who has an answer; the others always have something to do.
static void asking_master(void) {
    for (int i = 0; i < steps; ++i) {
        if (rank == 0) {
            for (int answers = 0; answers < size - 1;) {
                int is_there = 0;
                MPI_Status from;
                MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &is_there, &from);
                if (is_there) {
                    char answer;
                    MPI_Recv(&answer, 1, MPI_CHAR, from.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    ++answers;
                }
                sched_yield();
            }
        } else {
            char answer = 0;
            work(8);
            MPI_Send(&answer, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
    }
}

static MPI_Comm of_thread[2];
static void* sum_in_thread(void* which) {
    const int thread = *(int*)which;
    double mine = 1, all;
    for (int i = 0; i < steps; ++i) {
        work(rank == 3 && thread == 1 ? 12 : 6);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, of_thread[thread]);
    }
    return NULL;
}

// Two threads of each rank have a communicator each; one of them is late on one rank.
static void late_thread(void) {
    static int numbers[2] = {0, 1};
    pthread_t other;
    for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &of_thread[i]);
    pthread_create(&other, NULL, sum_in_thread, &numbers[1]);
    sum_in_thread(&numbers[0]);
    pthread_join(other, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; ++i) MPI_Comm_free(&of_thread[i]);
}

int main(int argc, char** argv) {
    static const struct program programs[] = {{"late_input", even, long_input},
                                              {"input_of_all", even, input_of_all},
                                              {"written_at_the_end", written_at_the_end, NULL},
                                              {"spawning", spawning, NULL},
                                              {"spawned", spawned, NULL},
                                              {"greedy_threads", greedy_threads, NULL},
                                              {"asks_and_sleeps", asks_and_sleeps, NULL},
                                              {"asking_master", asking_master, NULL},
                                              {"late_thread", late_thread, NULL}};
    return run_program(argc, argv, programs, COUNT(programs));
}
