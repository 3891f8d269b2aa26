// MPI for the whole life of a process: begun by a library's constructor, used by main, by a thread's destructor, by an
// atexit function and by the library's destructor, which also finalises. As a library (-DLIBRARY) and its main program.
// usage: lifelong CALLS
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

void reduce(int calls);

#ifdef LIBRARY
static int rank, sum;

void reduce(int calls) {
    for (int i = 0; i < calls; ++i) {
        int one = 1, all = 0;
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
    }
}

__attribute__((constructor)) static void begin(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    reduce(1);
}

__attribute__((destructor)) static void end(void) {
    reduce(1);
    MPI_Finalize();
    if (rank == 0) {
        printf("lifelong: sum %d\n", sum);
        fflush(stdout);
    }
}
#else
static pthread_key_t key;

static void at_exit(void) { reduce(1); }
static void at_thread_end(void* calls) { reduce(*(int*)calls); }
static void* run(void* calls) {
    pthread_setspecific(key, calls);
    return NULL;
}

int main(int argc, char** argv) {
    pthread_t thread;
    int calls = argc > 1 ? atoi(argv[1]) : 10;
    atexit(at_exit);
    reduce(calls);
    pthread_key_create(&key, at_thread_end);
    if (pthread_create(&thread, NULL, run, &calls) != 0) return 9;
    pthread_join(thread, NULL);
    return 0;
}
#endif
