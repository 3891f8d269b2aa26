// The rows as C functions: how one becomes an exported function, for c.cpp and c_large.cpp. Every parameter is a
// register-wide word and the whole result register is returned, so one function serves every MPI's types; the program
// never notices.
#pragma once

#include "libmpiprof/mpi/sizes.h"
#include "libmpiprof/wrap/parameters.h"

using mpiprof::Word;
using mpiprof::mpi::CBinding;
using mpiprof::mpi::Id;
using mpiprof::mpi::Mpi;

#define SYMBOL(Name, arity, Large)                                                                             \
    namespace {                                                                                                \
    struct Text_##Name {                                                                                       \
        static const char* text() { return "MPI_" #Name; }                                                     \
    };                                                                                                         \
    }                                                                                                          \
    extern "C" [[gnu::visibility("default")]] Word MPI_##Name(MPIPROF_PARAMETERS_##arity) {                    \
        return mpiprof::wrap::call<Mpi, Id::Name, 0, CBinding<Large>, Text_##Name>(MPIPROF_ARGUMENTS_##arity); \
    }
#define MPI_SPECIAL(...)  // special.cpp
#define MPI_PASSED(...)
