// The four vocabularies.
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

constexpr Vocabulary mpi{.library = "MPI",
                         .in_library = "IN MPI",
                         .outside = "OUTSIDE MPI",
                         .share = "%MPI",
                         .init = "MPI_Init",
                         .first_init = "the first MPI_Init",
                         .finalize = "MPI_Finalize",
                         .begin = "Init",
                         .end = "Finalize"};

constexpr Vocabulary nccl{.library = "NCCL",
                          .in_library = "IN NCCL",
                          .outside = "OUTSIDE NCCL",
                          .share = "%NCCL",
                          .init = "the first communicator",
                          .first_init = "the first communicator",
                          .finalize = "exit",
                          .begin = "first communicator",
                          .end = "exit"};

// Of a program that marks its parts, and that is all.
constexpr Vocabulary neither{.library = "MPI or NCCL",
                             .in_library = "COMM",
                             .outside = "OUTSIDE",
                             .share = "%COMM",
                             .init = "the first mark",
                             .first_init = "the first mark",
                             .finalize = "exit",
                             .begin = "first mark",
                             .end = "exit"};

constexpr Vocabulary both{.library = "MPI and NCCL",
                          .in_library = "IN MPI and NCCL",
                          .outside = "OUTSIDE MPI and NCCL",
                          .share = "%COMM",
                          .init = "MPI_Init",
                          .first_init = "the first MPI_Init",
                          .finalize = "MPI_Finalize",
                          .begin = "Init",
                          .end = "Finalize"};

}  // namespace

const Vocabulary& vocabulary_of(const Job& job) {
    if (job.is_serial()) return neither;
    if (job.is_without_mpi()) return nccl;
    return job.has(Family::nccl) ? both : mpi;
}

}  // namespace mpiprof::report
