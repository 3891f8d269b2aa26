// `use mpi_f08` with large counts, buffers by descriptor: the names of MPI 4.1, and those of MPICH 4.
#include "libmpiprof/mpi/symbols/fortran.h"

#define MPI(...)  // has no large-count twin
#define MPI_C(Name, name, arity, ...)                             \
    SYMBOL(mpi_##name##_c_f08ts_, Name##_c, arity, 5, true, true) \
    SYMBOL(mpi_##name##_f08ts_large_, Name##_c, arity, 7, true, true)
#include "libmpiprof/mpi/calls.def"
