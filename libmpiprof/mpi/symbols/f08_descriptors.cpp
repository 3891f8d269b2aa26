// `use mpi_f08` of a library whose buffers come by descriptor, as TS 29113 has it.
#include "libmpiprof/mpi/symbols/fortran.h"

#define MPI(Name, name, arity, ...) SYMBOL(mpi_##name##_f08ts_, Name, arity, 3, false, true)
#define MPI_C(...) MPI(__VA_ARGS__)
#include "libmpiprof/mpi/calls.def"
