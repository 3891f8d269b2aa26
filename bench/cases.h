// What the programs of bench/ do with their table of cases. Included once, behind that table: `cases`, each with a
// `name` and a `round`, and `n_cases` of them; `program` is what the program calls itself.
#pragma once

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <valgrind/callgrind.h>

enum { warm_up = 100 };

static int find(const char* name) {
    for (int i = 0; i < n_cases; i++)
        if (strcmp(cases[i].name, name) == 0) return i;
    fprintf(stderr, "%s: there is no case %s\n", program, name);
    exit(2);
}

static double ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

// A function of the GPU's driver, which is a double (tests/gpu); null where there is none (FAKE_GPU is not set).
static int (*of_driver(const char* function))(void*) {
    void* cuda = getenv("FAKE_GPU") ? dlopen("libcuda.so.1", RTLD_NOW) : NULL;
    return cuda ? (int (*)(void*))dlsym(cuda, function) : NULL;
}

// `behind`, if there is one, is called behind each round.
static void count(int rounds, char** names, int n, int (*behind)(void*)) {
    for (int k = 0; k < n; k++) {
        void (*const round)(void) = cases[find(names[k])].round;
        // One loop, whose body the compiler makes once: its places in the program are known when it counts.
        for (volatile int i = -warm_up; i < rounds; i++) {
            if (i == 0) CALLGRIND_ZERO_STATS;
            round();
            if (behind) behind(NULL);
        }
        CALLGRIND_DUMP_STATS_AT(names[k]);
    }
}
