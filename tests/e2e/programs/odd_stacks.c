/* MPI called where the stack is not what it seems: below a function whose unwind information is wrong, also from within
   MPI; on fibers' stacks, which end early; in a signal's handler, on the stack in use and on one of its own. Books its
   calls. usage: odd_stacks PREFIX */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "book.h"

static int me;

static __attribute__((noinline)) void reduce(void) {
    int in = me, out = 0;
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    expect("MPI_Allreduce", 4);
}

/* By its description the frame is behind %rbp, which is the second argument. */
#if defined(__x86_64__)
__asm__(
    "   .text\n"
    "   .type call_with_wrong_rules, @function\n"
    "call_with_wrong_rules:\n"
    "   .cfi_startproc\n"
    "   pushq %rbp\n"
    "   .cfi_def_cfa %rbp, 16\n"
    "   .cfi_offset %rbp, -16\n"
    "   movq %rsi, %rbp\n"
    "   call *%rdi\n"
    "   popq %rbp\n"
    "   ret\n"
    "   .cfi_endproc\n"
    "   .size call_with_wrong_rules, . - call_with_wrong_rules\n");
void call_with_wrong_rules(void (*function)(void), uintptr_t rbp);
#else
static void call_with_wrong_rules(void (*function)(void), uintptr_t rbp) {
    (void)rbp;
    function();
}
#endif

static void below_wrong_rules(void (*function)(void)) {
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t rbps[] = {0, 16, ~(uintptr_t)0, here - 65536, here + 8, here + (4 << 20), (uintptr_t)1 << 62};
    for (unsigned i = 0; i < sizeof rbps / sizeof *rbps; ++i) call_with_wrong_rules(function, rbps[i]);
}

/* Part of MPI_Comm_dup, and so no call of the program's own. */
static void ask(void) {
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}
static int copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    below_wrong_rules(ask);
    *flag = 0;
    return MPI_SUCCESS;
}

static void from_within(void) {
    int key;
    MPI_Comm self, again;
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    expect("MPI_Comm_dup", 0);
    MPI_Comm_set_attr(self, key, &me);
    MPI_Comm_dup(self, &again);
    expect("MPI_Comm_dup", 0);
    MPI_Comm_free(&self);
    expect("MPI_Comm_free", 0);
    MPI_Comm_free(&again);
    expect("MPI_Comm_free", 0);
}

/* A stack whose neighbours nobody may read. */
enum { stack_bytes = 512 << 10, fence_bytes = 64 << 10 };
static char* fenced_stack(void) {
    char* all =
        mmap(NULL, stack_bytes + 2 * fence_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED || mprotect(all + fence_bytes, stack_bytes, PROT_READ | PROT_WRITE) != 0) exit(9);
    return all + fence_bytes;
}

static ucontext_t outside;
static char* fiber_stack;

static void fiber(void) {
    reduce();
    call_with_wrong_rules(reduce, (uintptr_t)fiber_stack + stack_bytes + 8);
    call_with_wrong_rules(reduce, (uintptr_t)fiber_stack + stack_bytes - 16);
}

/* Each stack is gone when the next comes, often to the same place. */
static void on_fibers(void) {
    for (int i = 0; i < 20; ++i) {
        ucontext_t inside;
        fiber_stack = fenced_stack();
        getcontext(&inside);
        inside.uc_stack.ss_sp = fiber_stack;
        inside.uc_stack.ss_size = stack_bytes - 4096 * (i % 3);
        inside.uc_link = &outside;
        makecontext(&inside, fiber, 0);
        swapcontext(&outside, &inside);
        munmap(fiber_stack - fence_bytes, stack_bytes + 2 * fence_bytes);
    }
}

static void handler(int number) {
    (void)number;
    reduce();
}

static void in_handlers(void) {
    const stack_t own = {.ss_sp = fenced_stack(), .ss_size = stack_bytes};
    sigaltstack(&own, NULL);
    for (int flags = 0; flags <= SA_ONSTACK; flags += SA_ONSTACK) {
        struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
        sigaction(SIGUSR1, &action, NULL);
        for (int i = 0; i < 3; ++i) raise(SIGUSR1);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    below_wrong_rules(reduce);
    from_within();
    on_fibers();
    in_handlers();
    printf("all returned\n");
    write_book(argv[1], me);
    MPI_Finalize();
    return 0;
}
