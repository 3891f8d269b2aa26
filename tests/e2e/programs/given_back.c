/* Fibers whose stacks are given back while the program goes on, and one kernel for tasks of all sizes, with its work
   array on the stack: the same call comes to lie where a larger task's lay, whose callers were further up. How the
   place changes: unmapped, cut short, or four GiB away. Books its calls. usage: given_back PREFIX */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "book.h"

enum { large_stack = 512 << 10, large_task = 200 << 10, most_small = 12000, page = 4096 };

static int me;
static ucontext_t scheduler;
static size_t task;
static uintptr_t frame;

static __attribute__((noinline)) void reduce(void) {
    int in = me, out = 0;
    frame = (uintptr_t)__builtin_frame_address(0);
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    expect("MPI_Allreduce", 4);
}

static __attribute__((noinline)) void kernel(size_t n) {
    volatile char work[n];
    work[0] = 1;
    work[n - 1] = 1;
    for (int i = 0; i < 5; ++i) reduce();
    work[0] = 2;
}

static void fiber(void) {
    kernel(task);
    __asm__ volatile("" ::: "memory");
}

static void run(char* stack, size_t bytes, size_t n) {
    ucontext_t inside;
    task = n;
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = bytes;
    inside.uc_link = &scheduler;
    makecontext(&inside, fiber, 0);
    swapcontext(&scheduler, &inside);
}

static char* map(uintptr_t place, size_t bytes, int access) {
    char* p = mmap((void*)place, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | (place ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    if (p == MAP_FAILED || (place && p != (char*)place)) exit(9);
    return p;
}

/* Small tasks of many sizes, so that one has its frame there. */
static void small_tasks(char* stack, size_t bytes, uintptr_t there) {
    for (size_t n = 16; n < most_small; n += 16) {
        run(stack, bytes, n);
        if (frame == there) return;
    }
    printf("no task came to the place\n");
}

int main(int argc, char** argv) {
    (void)argc;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    expect("MPI_Comm_rank", 0);
    enum { unmapped, cut_short, far_away, ways };
    for (int way = 0; way < ways; ++way) {
        char* large = map(((uintptr_t)2 + way) << 35, large_stack, PROT_READ | PROT_WRITE);
        run(large, large_stack, large_task);
        const uintptr_t there = frame, distance = way == far_away ? (uintptr_t)4 << 30 : 0;
        const size_t bytes = (there - (uintptr_t)large + 2 * page - 1) / page * page;
        if (way == unmapped) munmap(large, large_stack);
        if (way == cut_short) mprotect(large + bytes, large_stack - bytes, PROT_NONE);
        char* small = way == cut_short ? large : map((uintptr_t)large - distance, bytes, PROT_READ | PROT_WRITE);
        small_tasks(small, bytes, there - distance);
    }
    printf("all returned\n");
    write_book(argv[1], me);
    MPI_Finalize();
    return 0;
}
