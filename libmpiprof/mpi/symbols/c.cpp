// MPI_X: the C function of every row.
#include "libmpiprof/mpi/symbols/c.h"

#define MPI(Name, name, arity, ...) SYMBOL(Name, arity, false)
#define MPI_C(...) MPI(__VA_ARGS__)
#include "libmpiprof/mpi/calls.def"
