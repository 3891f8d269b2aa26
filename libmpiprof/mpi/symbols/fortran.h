// The rows as Fortran's symbols: how one becomes an exported function, for the files beside this one, each of which is
// one of Fortran's interfaces (all of them together take a compiler gigabytes). Never a name without underscore, or in
// capitals: any C library may own that (docs/decisions/0011). Arguments are addresses and pass through untouched, so
// IN_PLACE, BOTTOM, STATUS_IGNORE, LOGICALs, strings with hidden lengths, descriptors and an absent ierror stay the
// library's own business.
#pragma once

#include "libmpiprof/mpi/sizes.h"
#include "libmpiprof/wrap/parameters.h"

using mpiprof::Role;
using mpiprof::Word;
using mpiprof::mpi::FortranBinding;
using mpiprof::mpi::Id;
using mpiprof::mpi::Mpi;
using mpiprof::mpi::row_of;

namespace {

// Behind the C arguments come ierror and one hidden length for each string; a row has at most two of those.
template <Id I, int Spelling, class Language, class Name, class... Words>
[[gnu::always_inline]] inline Word call(Word h0, Word h1, Words... words_and_ierror) {
    constexpr int strings = mpiprof::count_of(row_of(I).roles, Role::str);
    static_assert(strings <= 2);
    if constexpr (strings == 0)
        return mpiprof::wrap::call<Mpi, I, Spelling, Language, Name>(words_and_ierror...);
    else if constexpr (strings == 1)
        return mpiprof::wrap::call<Mpi, I, Spelling, Language, Name>(words_and_ierror..., h0);
    else
        return mpiprof::wrap::call<Mpi, I, Spelling, Language, Name>(words_and_ierror..., h0, h1);
}

}  // namespace

#define SYMBOL(symbol, Name, arity, Spelling, Large, Descriptor)                           \
    namespace {                                                                            \
    struct Text_##symbol {                                                                 \
        static const char* text() { return #symbol; }                                      \
    };                                                                                     \
    }                                                                                      \
    extern "C" [[gnu::visibility("default")]] Word symbol(                                 \
        MPIPROF_PARAMETERS_##arity MPIPROF_COMMA_##arity Word ierror, Word h0, Word h1) {  \
        return call<Id::Name, Spelling, FortranBinding<Large, Descriptor>, Text_##symbol>( \
            h0, h1 MPIPROF_COMMA_##arity MPIPROF_ARGUMENTS_##arity, ierror);               \
    }
#define MPI_SPECIAL(...)  // special.cpp
#define MPI_PASSED(...)
