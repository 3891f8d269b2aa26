// The four vocabularies, and which of them a job needs.
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

constexpr Bounds by_mpi{"MPI_Init", "the first MPI_Init", "MPI_Finalize", "Init", "Finalize"};
constexpr Bounds by_nccl{"the first communicator", "the first communicator", "exit", "first communicator", "exit"};
constexpr Bounds by_marks{"the first mark", "the first mark", "exit", "first mark", "exit"};

constexpr Vocabulary mpi{by_mpi, "MPI", "IN MPI", "OUTSIDE MPI", "%MPI"};
constexpr Vocabulary nccl{by_nccl, "NCCL", "IN NCCL", "OUTSIDE NCCL", "%NCCL"};
constexpr Vocabulary both{by_mpi, "MPI and NCCL", "IN MPI and NCCL", "OUTSIDE MPI and NCCL", "%COMM"};
// Of a program that marks its parts, and that is all.
constexpr Vocabulary neither{by_marks, "MPI or NCCL", "COMM", "OUTSIDE", "%COMM"};

}  // namespace

const Vocabulary& vocabulary_of(const Job& job) {
    if (job.is_serial()) return neither;
    if (job.is_without_mpi()) return nccl;
    return job.has(Family::nccl) ? both : mpi;
}

const Vocabulary& vocabulary_of_both(const Vocabulary& a, const Vocabulary& b) {
    if (&a == &b || &b == &neither) return a;
    return &a == &neither ? b : both;
}

std::string_view at_least(const Job& job) { return job.communicates_unseen() ? "at least " : ""; }

}  // namespace mpiprof::report
