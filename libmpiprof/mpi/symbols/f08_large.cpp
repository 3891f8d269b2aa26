// `use mpi_f08` with large counts, buffers by address: the names of MPI 4.1, and those of MPICH 4.
#include "libmpiprof/mpi/symbols/fortran.h"

#define MPI(...)  // has no large-count twin
#define MPI_C(Name, name, arity, ...)                            \
    SYMBOL(mpi_##name##_c_f08_, Name##_c, arity, 4, true, false) \
    SYMBOL(mpi_##name##_f08_large_, Name##_c, arity, 6, true, false)
#include "libmpiprof/mpi/calls.def"

// MPICH's names for twins that have other arguments than the function, and so a row of their own.
SYMBOL(mpi_type_get_envelope_f08_large_, Type_get_envelope_c, 6, 6, true, false)
SYMBOL(mpi_type_get_contents_f08_large_, Type_get_contents_c, 9, 6, true, false)
