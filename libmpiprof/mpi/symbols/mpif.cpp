// mpif.h and `use mpi`: with one underscore, and with two where the compiler was told so (-fsecond-underscore).
#include "libmpiprof/mpi/symbols/fortran.h"

#define ALIAS(symbol, name, arity)                                                       \
    extern "C" [[gnu::visibility("default"), gnu::alias("mpi_" #name "_")]] Word symbol( \
        MPIPROF_PARAMETERS_##arity MPIPROF_COMMA_##arity Word ierror, Word h0, Word h1);

#define MPI(Name, name, arity, ...)                                      \
    SYMBOL(mpi_##name##_, Name, arity, Mpi::mpif_spelling, false, false) \
    ALIAS(mpi_##name##__, name, arity)
#define MPI_C(...) MPI(__VA_ARGS__)
#include "libmpiprof/mpi/calls.def"

// Open MPI's `use mpi` has a second name for what takes a TYPE(C_PTR).
#define CPTR(Name, name, arity)                                               \
    SYMBOL(mpi_##name##_cptr_, Name, arity, Mpi::cptr_spelling, false, false) \
    CPTR_ALIAS(mpi_##name##_cptr__, name, arity)
#define CPTR_ALIAS(symbol, name, arity) ALIAS(symbol, name##_cptr, arity)
CPTR(Alloc_mem, alloc_mem, 3)
CPTR(Win_allocate, win_allocate, 6)
CPTR(Win_allocate_shared, win_allocate_shared, 6)
CPTR(Win_shared_query, win_shared_query, 5)
