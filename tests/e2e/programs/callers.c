// One function of a library calls MPI for the whole program, as a communication layer does; who called it is on the
// stack. Compiled twice: with -DLAYER the library, without the program. Prints where main is (to see address
// randomisation), and for each call of the layer the line of its caller, of the caller's caller or 0, and how often.
// usage: callers [thread]     all of it in a thread of its own
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

void sum_up(double* values, int n);

#ifdef LAYER
void sum_up(double* values, int n) {
    MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    __asm__ volatile("" ::: "memory");  // no tail call: this function stays on the stack
}
#else

static double values[64];
static int rank;
static void say(int line, int outer_line, int times) {
    if (rank == 0) printf("%d %d %d\n", line, outer_line, times);
}

static int inner_line;
__attribute__((noinline)) static void middle(void) {
    sum_up(values, 1);
    inner_line = __LINE__ - 1;
    __asm__ volatile("" ::: "memory");
}

// Deeper in a recursion it is the same place.
__attribute__((noinline)) static int descend(int levels) {
    if (levels == 0) {
        sum_up(values, 2);
        return __LINE__ - 1;
    }
    const int line = descend(levels - 1);
    __asm__ volatile("" ::: "memory");
    return line;
}

static void* call_all(void* unused) {
    const int before = __LINE__;
    for (int i = 0; i < 40; i++) {
        sum_up(values, 1);
        if (i < 30) sum_up(values, 1);
        if (i < 20) sum_up(values, 1 + i % 2 * 40);  // two sizes
        if (i < 7) middle();
        if (i < 5) middle();
    }
    say(before + 2, 0, 40);
    say(before + 3, 0, 30);
    say(before + 4, 0, 20);
    say(inner_line, before + 5, 7);
    say(inner_line, before + 6, 5);
    int line = 0;
    for (int i = 0; i < 12; i++) line = descend(i % 3 ? 0 : i / 3);
    say(line, 0, 12);
    return unused;
}

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("main %p\n", (void*)main);
    pthread_t thread;
    if (argc > 1 && provided >= MPI_THREAD_SERIALIZED && pthread_create(&thread, NULL, call_all, NULL) == 0)
        pthread_join(thread, NULL);
    else
        call_all(NULL);
    MPI_Finalize();
    return 0;
}
#endif
