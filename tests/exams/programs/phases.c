// Programs whose late rank is not the same all the time: one after the other, in turn, for a moment, at the end of a
// list of tasks.
//   phases NAME STEPS
#include <signal.h>
#include <sys/wait.h>

#include "exam.h"

// Each third of the run has its own.
static void three_in_turn(void) {
    for (int i = 0; i < steps; ++i) {
        work(rank == 1 + 3 * i / steps ? 14 : 7);
        SUM_UP(MPI_COMM_WORLD);
    }
}

// What rank 1 does more in the first half all others do more in the second: nobody has more in all.
static void cancelling(void) {
    for (int i = 0; i < steps; ++i) {
        const int is_first_half = i < steps / 2;
        work((rank == 1) == is_first_half ? 13 : 6);
        SUM_UP(MPI_COMM_WORLD);
    }
}

// Another one in each step, by the number of the step.
static void rotating(void) {
    for (int i = 0; i < steps; ++i) {
        work(i % size == rank ? 12 : 5);
        SUM_UP(MPI_COMM_WORLD);
    }
}

// Each for eight steps.
static void rotating_slowly(void) {
    for (int i = 0; i < steps; ++i) {
        work(i / 8 % size == rank ? 12 : 5);
        SUM_UP(MPI_COMM_WORLD);
    }
}

// Ranks take tasks until there are none; whoever has drawn the long one at the end is waited for.
static void tail_of_tasks(void) {
    for (int i = 0; i < steps; ++i) {
        for (int task = 0; task < 5; ++task) work(2 + jitter(5 * i + task));
        if ((int)(drawn((unsigned)(7 * i + 3)) % (unsigned)size) == rank) work(12);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void stop_for(double seconds) {
    const pid_t stopped = getpid();
    const pid_t child = fork();
    if (child == 0) {
        kill(stopped, SIGSTOP);
        usleep((useconds_t)(1e6 * seconds));
        kill(stopped, SIGCONT);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

// One is stopped by a signal, once.
static void stopped(void) {
    for (int i = 0; i < steps; ++i) {
        work(6);
        if (rank == 2 && i == steps / 3) stop_for(0.5);
        SUM_UP(MPI_COMM_WORLD);
    }
}

// One has one long step.
static void one_long_step(void) {
    for (int i = 0; i < steps; ++i) {
        work(rank == 3 && i == steps / 2 ? 500 : 6);
        SUM_UP(MPI_COMM_WORLD);
    }
}

// One is slow in the middle third.
static void slow_for_a_while(void) {
    for (int i = 0; i < steps; ++i) {
        work(rank == 1 && 3 * i / steps == 1 ? 20 : 7);
        SUM_UP(MPI_COMM_WORLD);
    }
}

// One is slow in the first tenth: tables that it makes for all.
static void slow_at_first(void) {
    for (int i = 0; i < steps; ++i) {
        work(rank == 0 && i < steps / 10 ? 80 : 6);
        SUM_UP(MPI_COMM_WORLD);
    }
}

// Two kinds of steps, each with a late rank of its own, in a program of two collectives.
static void two_kinds_of_steps(void) {
    for (int i = 0; i < steps; ++i) {
        work(rank == 1 ? 10 : 5);
        MPI_Barrier(MPI_COMM_WORLD);
        work(rank == 2 ? 10 : 5);
        SUM_UP(MPI_COMM_WORLD);
    }
}

// Whoever holds the hot spot has more to do, and it moves a little in each step.
static void hot_spot(void) {
    for (int i = 0; i < steps; ++i) {
        const double at = (double)i / steps * size;
        const double distance = at - rank - 0.5;
        work(6 + (distance > -1 && distance < 1 ? 8 * (1 - (distance < 0 ? -distance : distance)) : 0));
        SUM_UP(MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv) {
    static const struct program programs[] = {{"three_in_turn", three_in_turn, NULL},
                                              {"cancelling", cancelling, NULL},
                                              {"rotating", rotating, NULL},
                                              {"rotating_slowly", rotating_slowly, NULL},
                                              {"tail_of_tasks", tail_of_tasks, NULL},
                                              {"stopped", stopped, NULL},
                                              {"one_long_step", one_long_step, NULL},
                                              {"slow_for_a_while", slow_for_a_while, NULL},
                                              {"slow_at_first", slow_at_first, NULL},
                                              {"two_kinds_of_steps", two_kinds_of_steps, NULL},
                                              {"hot_spot", hot_spot, NULL}};
    return run_program(argc, argv, programs, COUNT(programs));
}
