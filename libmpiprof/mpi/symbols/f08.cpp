// `use mpi_f08` of a library whose buffers come by address.
#include "libmpiprof/mpi/symbols/fortran.h"

#define MPI(Name, name, arity, ...) SYMBOL(mpi_##name##_f08_, Name, arity, 2, false, false)
#define MPI_C(...) MPI(__VA_ARGS__)
#include "libmpiprof/mpi/calls.def"
