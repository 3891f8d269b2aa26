// Compiling this file checks every row of NCCL's table, and of the table ROWS, libmpiprof/mpi/calls.def unless a test
// names another one (tests/compile/rejected). It needs no MPI and leaves no object.
#include "tests/compile/row_rules.h"

#ifndef ROWS
#define ROWS "libmpiprof/mpi/calls.def"
#endif

namespace mpiprof {

#define MPI(Name, name, arity, treatment, traffic, rule, words, ...)                      \
    static_assert(name_is_sound(#Name, #name) &&                                          \
                  is_sound_file_traffic(#Name, Treatment::treatment, Traffic::traffic) && \
                  row_is_sound(Treatment::treatment, Traffic::traffic, SizeRule::rule, arity, words));
#define MPI_C MPI
#define MPI_SPECIAL MPI
#define MPI_PASSED(Name, reason) static_assert(!std::string_view(reason).empty(), #Name ": say why it is not exported");
#include ROWS
#undef MPI
#undef MPI_C
#undef MPI_PASSED
#undef MPI_SPECIAL

// A name that two rows share is declared twice here.
enum class one_row_per_function {
#define MPI(Name, ...) Name,
#define MPI_C(Name, ...) Name, Name##_c,
#define MPI_SPECIAL MPI
#define MPI_PASSED MPI
#include ROWS
#undef MPI
#undef MPI_C
#undef MPI_PASSED
#undef MPI_SPECIAL
};

#define NCCL(Name, arity, treatment, traffic, rule, words, ...) \
    static_assert(row_is_sound(Treatment::treatment, Traffic::traffic, SizeRule::rule, arity, words));
#define NCCL_SPECIAL NCCL
#define NCCL_PASSED(Name, reason) \
    static_assert(!std::string_view(reason).empty(), #Name ": say why it is not exported");
#include "libmpiprof/nccl/calls.def"

}  // namespace mpiprof
