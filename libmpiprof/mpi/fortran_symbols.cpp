// The rows as Fortran's symbols: mpif.h and `use mpi` (with one underscore and with two), mpi_f08 with and without
// descriptors, and the large-count names of MPICH 4 and MPI 4.1. Never a name without underscore, or in capitals: any C
// library may own that (docs/decisions/0011). Arguments are addresses and pass through untouched, so IN_PLACE, BOTTOM,
// STATUS_IGNORE, LOGICALs, strings with hidden lengths, descriptors and an absent ierror stay the library's own
// business.
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

#define COMMA_0
#define COMMA_1 ,
#define COMMA_2 ,
#define COMMA_3 ,
#define COMMA_4 ,
#define COMMA_5 ,
#define COMMA_6 ,
#define COMMA_7 ,
#define COMMA_8 ,
#define COMMA_9 ,
#define COMMA_10 ,
#define COMMA_11 ,
#define COMMA_12 ,
#define COMMA_13 ,

#define SYMBOL(symbol, Name, arity, Spelling, Large, Descriptor)                                                \
    namespace {                                                                                                 \
    struct Text_##symbol {                                                                                      \
        static const char* text() { return #symbol; }                                                           \
    };                                                                                                          \
    }                                                                                                           \
    extern "C" [[gnu::visibility("default")]] Word symbol(MPIPROF_PARAMETERS_##arity COMMA_##arity Word ierror, \
                                                          Word h0, Word h1) {                                   \
        return call<Id::Name, Spelling, FortranBinding<Large, Descriptor>, Text_##symbol>(                      \
            h0, h1 COMMA_##arity MPIPROF_ARGUMENTS_##arity, ierror);                                            \
    }
#define ALIAS(symbol, name, arity)                                                       \
    extern "C" [[gnu::visibility("default"), gnu::alias("mpi_" #name "_")]] Word symbol( \
        MPIPROF_PARAMETERS_##arity COMMA_##arity Word ierror, Word h0, Word h1);

#define MPI(Name, name, NAME, arity, ...)                                \
    SYMBOL(mpi_##name##_, Name, arity, Mpi::mpif_spelling, false, false) \
    ALIAS(mpi_##name##__, name, arity)                                   \
    SYMBOL(mpi_##name##_f08_, Name, arity, 2, false, false)              \
    SYMBOL(mpi_##name##_f08ts_, Name, arity, 3, false, true)
#define MPI_C(Name, name, NAME, arity, ...)                          \
    MPI(Name, name, NAME, arity)                                     \
    SYMBOL(mpi_##name##_c_f08_, Name##_c, arity, 4, true, false)     \
    SYMBOL(mpi_##name##_c_f08ts_, Name##_c, arity, 5, true, true)    \
    SYMBOL(mpi_##name##_f08_large_, Name##_c, arity, 6, true, false) \
    SYMBOL(mpi_##name##_f08ts_large_, Name##_c, arity, 7, true, true)
#define MPI_SPECIAL(...)  // special.cpp
#define MPI_PASSED(...)
#include "libmpiprof/mpi/calls.def"

// ---- names that follow no rule ----

// Open MPI's `use mpi` has a second name for what takes a TYPE(C_PTR).
#define CPTR(Name, name, arity)                                               \
    SYMBOL(mpi_##name##_cptr_, Name, arity, Mpi::cptr_spelling, false, false) \
    CPTR_ALIAS(mpi_##name##_cptr__, name, arity)
#define CPTR_ALIAS(symbol, name, arity) ALIAS(symbol, name##_cptr, arity)
CPTR(Alloc_mem, alloc_mem, 3)
CPTR(Win_allocate, win_allocate, 6)
CPTR(Win_allocate_shared, win_allocate_shared, 6)
CPTR(Win_shared_query, win_shared_query, 5)

// MPICH's names for twins that have other arguments than the function, and so a row of their own.
SYMBOL(mpi_type_get_envelope_f08_large_, Type_get_envelope_c, 6, 6, true, false)
SYMBOL(mpi_type_get_contents_f08_large_, Type_get_contents_c, 9, 6, true, false)
