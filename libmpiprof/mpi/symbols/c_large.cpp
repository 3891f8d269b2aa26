// MPI_X_c: the large-count twin, where a row has one.
#include "libmpiprof/mpi/symbols/c.h"

#define MPI(...)  // has no large-count twin
#define MPI_C(Name, name, arity, ...) SYMBOL(Name##_c, arity, true)
#include "libmpiprof/mpi/calls.def"
