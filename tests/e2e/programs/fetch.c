// A program that brings MPI in as Julia's MPI.jl does: dlopen of the library, dlsym of each function. It is compiled
// without mpi.h, so it knows the handles of its MPI by value or by symbol. Books its calls.
// usage: fetch openmpi|mpich LIBRARY PREFIX
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#include "book.h"

static void* library;

static void* fetch(const char* name) {
    dlerror();
    void* found = dlsym(library, name);
    const char* error = dlerror();
    if (found && !error) return found;
    fprintf(stderr, "fetch: %s\n", error ? error : name);
    exit(2);
}
#define CALL(name, ...) ((int (*)())fetch(name))(__VA_ARGS__)

// How often a question about what there is has another answer than it should have.
static int probe(void) {
    int wrong = 0;
    // No MPI has this one; libmpiprof does not either.
    wrong += dlsym(library, "MPI_No_such_function") != NULL || dlerror() == NULL;
    // Functions that only some MPIs have (MPI_Session_init: not Open MPI 4): a wrapper alone is not a function.
    void* everywhere = dlopen(NULL, RTLD_LAZY);
    for (int i = 0; i < 2; ++i) {
        const char* name = i ? "MPI_Barrier_init" : "MPI_Session_init";
        const int exists = dlsym(library, name) != NULL;
        dlerror();
        if (!exists) wrong += dlsym(RTLD_DEFAULT, name) != NULL || dlerror() == NULL;
        if (!exists) wrong += dlsym(everywhere, name) != NULL || dlerror() == NULL;
    }
    dlclose(everywhere);
    // What is no MPI's is what it was.
    wrong += dlsym(RTLD_DEFAULT, "getpid") == NULL || dlsym(RTLD_NEXT, "malloc") == NULL || dlerror() != NULL;
    return wrong;
}

int main(int argc, char** argv) {
    const int is_mpich = argc > 1 && strcmp(argv[1], "mpich") == 0;
    int rank, size;
    double in[3] = {1, 2, 3}, out[3] = {0};
    library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "fetch: %s\n", dlerror());
        return 2;
    }
    const intptr_t world = is_mpich ? 0x44000000 : (intptr_t)fetch("ompi_mpi_comm_world");
    const intptr_t real = is_mpich ? 0x4c00080b : (intptr_t)fetch("ompi_mpi_double");
    const intptr_t sum = is_mpich ? 0x58000003 : (intptr_t)fetch("ompi_mpi_op_sum");
    CALL("MPI_Init", NULL, NULL);
    CALL("MPI_Comm_rank", world, &rank);
    expect("MPI_Comm_rank", 0);
    CALL("MPI_Comm_size", world, &size);
    expect("MPI_Comm_size", 0);
    int (*allreduce)() = (int (*)())fetch("MPI_Allreduce");
    for (int i = 0; i < 25; ++i) {
        allreduce(in, out, (intptr_t)3, real, sum, world);
        expect("MPI_Allreduce", 24);
        CALL("MPI_Bcast", out, (intptr_t)2, real, (intptr_t)0, world);
        expect("MPI_Bcast", 16);
    }
    CALL("PMPI_Barrier", world);  // the profiling name is what it says: not seen
    const int wrong = probe();
    if (rank == 0)
        printf("fetch: %d ranks, %s, %d wrong answers\n", size, out[2] == 3 * size ? "right" : "wrong", wrong);
    write_book(argv[3], rank);
    CALL("MPI_Finalize");
    return out[2] != 3 * size;
}
