// What the programs of an exam share: work that is slept through, so that a busy machine disturbs little, a number that
// looks drawn, and a main that runs the program it is told. Calls of MPI are macros, so that the line of a call is that
// of the program. Included by the programs beside it alone.
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size, steps;

#define COUNT(array) (sizeof(array) / sizeof *(array))

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void work(double ms) { usleep((useconds_t)(1000 * ms)); }

// On a processor, for so long by the clock.
static void spin(double ms) {
    for (const double end = now() + ms / 1000; now() < end;) continue;
}

// The same on all ranks.
static unsigned drawn(unsigned step) { return (step * 2654435761u) >> 8; }

// Of this rank.
static double jitter(int step) { return (double)(drawn((unsigned)(step * size + rank)) % 1000) / 1000; }

static double one = 1, all_of_them;
#define SUM_UP(comm) MPI_Allreduce(&one, &all_of_them, 1, MPI_DOUBLE, MPI_SUM, comm)

// The launchers' variables, since MPI_Comm_rank is not there yet.
static int rank_before_init(void) {
    const char* number = getenv("OMPI_COMM_WORLD_RANK");
    if (!number) number = getenv("PMI_RANK");
    return number ? atoi(number) : 0;
}

struct program {
    const char* name;
    void (*run)(void);
    void (*before_init)(void);
};

// PROGRAM NAME STEPS
static int run_program(int argc, char** argv, const struct program* programs, size_t count) {
    if (argc < 3) return 2;
    steps = atoi(argv[2]);
    for (size_t i = 0; i < count; ++i) {
        if (strcmp(argv[1], programs[i].name) != 0) continue;
        if (programs[i].before_init) programs[i].before_init();
        int level;
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        programs[i].run();
        MPI_Finalize();
        return 0;
    }
    return 2;
}
