// One function calls MPI for three callers, on the first stack and on a thread's: who called is on the stack, wherever
// a processor's functions keep their return addresses, and however large the kernel's pages are. Run by abi.py, which
// knows how often each is called.
#include <pthread.h>

#include <cstdio>

#include "tests/abi/abi.h"

extern "C" {
int MPI_Init(int*, char***);
int MPI_Finalize();
Word MPI_Barrier(Word comm);
}

#define STAYS_ON_THE_STACK asm volatile("" ::: "memory")  // no tail call

[[gnu::noinline]] static void meet() {
    MPI_Barrier(handle(world));
    STAYS_ON_THE_STACK;
}
[[gnu::noinline]] static void first() {
    meet();
    STAYS_ON_THE_STACK;
}
[[gnu::noinline]] static void second() {
    meet();
    STAYS_ON_THE_STACK;
}

static void* call_all(void* unused) {
    for (int i = 0; i < 30; ++i) {
        first();
        if (i < 20) second();
        if (i < 10) meet();
    }
    return unused;
}

int main() {
    fake_expected = {"MPI_Barrier", 1, {handle(world)}, 0, 0, -1, -1};
    MPI_Init(nullptr, nullptr);
    call_all(nullptr);
    pthread_t thread;
    if (pthread_create(&thread, nullptr, call_all, nullptr) == 0) pthread_join(thread, nullptr);
    MPI_Finalize();
    std::printf("%ld calls, %ld wrong\n", fake_calls, fake_wrong);
}
