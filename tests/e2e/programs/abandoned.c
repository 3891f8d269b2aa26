/* A call that an error handler left by longjmp, or a C++ exception would, and whose frame nobody writes over;
   afterwards all calls are made where the stack cannot be followed to its end, or is very deep. And calls within calls,
   of code that nothing describes. Books its calls. usage: abandoned fibers|recursion|operator PREFIX */
#define _GNU_SOURCE
#include <mpi.h>
#include <setjmp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "book.h"

static int me;
static jmp_buf back;

static void leave(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
    longjmp(back, 1);
}

static __attribute__((noinline)) void wrong_call(volatile char* far) {
    far[0] = 1;
    MPI_Bcast(NULL, -1, MPI_INT, 0, MPI_COMM_WORLD);
}
static __attribute__((noinline)) void provoke(void) {
    volatile char far[100000];
    far[sizeof far - 1] = 1;
    if (setjmp(back) == 0) wrong_call(far);
}

static void reduce(void) {
    int in = me, out = 0;
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    expect("MPI_Allreduce", 4);
}
static void several(void) {
    for (int i = 0; i < 20; ++i) reduce();
}

#if defined(__x86_64__)
/* Nothing describes its frame. */
__asm__(
    "   .text\n"
    "   .type call_without_description, @function\n"
    "call_without_description:\n"
    "   pushq %rbx\n"
    "   call *%rdi\n"
    "   popq %rbx\n"
    "   ret\n"
    "   .size call_without_description, . - call_without_description\n");
void call_without_description(void (*function)(void));
#else
static void call_without_description(void (*function)(void)) { function(); }
#endif

static ucontext_t outside;
static void fiber(void) { call_without_description(several); }
static void on_fibers(void) {
    enum { bytes = 256 << 10 };
    for (int i = 0; i < 3; ++i) {
        ucontext_t inside;
        char* stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        getcontext(&inside);
        inside.uc_stack.ss_sp = stack;
        inside.uc_stack.ss_size = bytes;
        inside.uc_link = &outside;
        makecontext(&inside, fiber, 0);
        swapcontext(&outside, &inside);
        munmap(stack, bytes);
    }
}

static __attribute__((noinline)) void recurse(int depth) {
    volatile char room[800]; /* nobody writes to most of it */
    room[sizeof room - 1] = 1;
    if (depth == 0)
        several();
    else
        recurse(depth - 1);
    room[sizeof room - 1] = 2;
}

/* Each of its calls is a part of the reduction. */
static void ask(void) {
    int size;
    MPI_Comm_size(MPI_COMM_SELF, &size);
}
static void add(void* in, void* out, int* n, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *n; ++i) ((int*)out)[i] += ((int*)in)[i];
    call_without_description(ask);
}

int main(int argc, char** argv) {
    const char* how = argc > 2 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    expect("MPI_Comm_rank", 0);
    MPI_Errhandler errors;
    MPI_Comm_create_errhandler(leave, &errors);
    expect("MPI_Comm_create_errhandler", 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors);
    expect("MPI_Comm_set_errhandler", 0);
    if (strcmp(how, "operator") == 0) {
        MPI_Op sum;
        MPI_Op_create(add, 1, &sum);
        expect("MPI_Op_create", 0);
        for (int i = 0; i < 10; ++i) {
            int in = 1, out = 0;
            MPI_Allreduce(&in, &out, 1, MPI_INT, sum, MPI_COMM_WORLD);
            expect("MPI_Allreduce", 4);
        }
        MPI_Op_free(&sum);
        expect("MPI_Op_free", 0);
    } else {
        provoke();
        if (strcmp(how, "fibers") == 0)
            on_fibers();
        else
            recurse(1000);
    }
    printf("all returned\n");
    write_book(argv[2], me);
    MPI_Finalize();
    return 0;
}
