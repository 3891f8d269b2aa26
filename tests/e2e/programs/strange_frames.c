// Calls behind frames that few unwinders pass: by a register that compilers do not use for it, by an expression, and
// in code that was made and described at run time. With a plug-in's path: its constructor makes such calls, too.
// Compiled twice: with -DPLUGIN the plug-in. Says how many calls each function has made.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef void (*Frame)(void (*)(void));

void sum_up(void);

#ifdef PLUGIN
void call_by_rbx(void (*)(void));
__attribute__((noinline)) static void prepare(void) {
    call_by_rbx(sum_up);
    __asm__ volatile("" ::: "memory");
}
__attribute__((constructor)) static void begin(void) {
    for (int i = 0; i < 3; i++) prepare();
}
#else

__asm__(
    ".text\n.globl call_by_rbx\n.type call_by_rbx, @function\ncall_by_rbx:\n.cfi_startproc\n"
    "pushq %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset %rbx, -16\nmovq %rsp, %rbx\n.cfi_def_cfa_register %rbx\n"
    "subq $32, %rsp\ncall *%rdi\nmovq %rbx, %rsp\npopq %rbx\n.cfi_def_cfa %rsp, 8\nret\n"
    ".cfi_endproc\n.size call_by_rbx, . - call_by_rbx\n"
    ".type call_by_expression, @function\ncall_by_expression:\n.cfi_startproc\n"
    "subq $40, %rsp\n.cfi_escape 0x0f, 0x04, 0x77, 0x10, 0x23, 0x20\n"
    "call *%rdi\naddq $40, %rsp\n.cfi_def_cfa %rsp, 8\nret\n.cfi_endproc\n"
    ".size call_by_expression, . - call_by_expression\n");
void call_by_rbx(void (*)(void));
void call_by_expression(void (*)(void));
void __register_frame(void*);

static double values[8];
void sum_up(void) {
    MPI_Allreduce(MPI_IN_PLACE, values, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    __asm__ volatile("" ::: "memory");
}

// sub $8, %rsp; call *%rdi; add $8, %rsp; ret
static Frame generate(void) {
    static const unsigned char code[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3};
    static const unsigned char shared[] = {20, 0,    0,  0, 0, 0,    0, 0, 1,    'z', 'R', 0,
                                           1,  0x78, 16, 1, 0, 0x0c, 7, 8, 0x90, 1,   0,   0};
    static const unsigned char program[] = {0, 0x44, 0x0e, 16, 0x46, 0x0e, 8, 0};
    static unsigned char description[64] __attribute__((aligned(8)));
    void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof code);
    const unsigned length = 28, back = sizeof shared + 4;
    const unsigned long begin = (unsigned long)page, bytes = sizeof code;
    unsigned char* own = description + sizeof shared;
    memcpy(description, shared, sizeof shared);
    memcpy(own, &length, 4);
    memcpy(own + 4, &back, 4);
    memcpy(own + 8, &begin, 8);
    memcpy(own + 16, &bytes, 8);
    memcpy(own + 24, program, sizeof program);
    __register_frame(description);
    return (Frame)page;
}

__attribute__((noinline)) static void first(void) {
    call_by_rbx(sum_up);
    __asm__ volatile("" ::: "memory");
}
__attribute__((noinline)) static void second(void) {
    call_by_expression(sum_up);
    __asm__ volatile("" ::: "memory");
}
__attribute__((noinline)) static void third(Frame generated) {
    generated(sum_up);
    __asm__ volatile("" ::: "memory");
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc > 1 && !dlopen(argv[1], RTLD_NOW)) {
        fprintf(stderr, "%s\n", dlerror());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    const Frame generated = generate();
    for (int i = 0; i < 10; i++) first();
    for (int i = 0; i < 20; i++) second();
    for (int i = 0; i < 30; i++) third(generated);
    MPI_Finalize();
    puts("all returned");
    return 0;
}
#endif
