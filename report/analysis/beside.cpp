// Of the sums of the threads, what has to be so.
#include "report/analysis/beside.h"

#include <algorithm>

namespace mpiprof::report {
namespace {

constexpr double hardly_any = 0.1;     // of the time in MPI: on other threads than the main one
constexpr double good_part = 0.25;     // of the time in MPI on other threads
constexpr double nearly_all = 0.75;    // of the time in MPI: on one thread
constexpr double more_than_one = 1.1;  // threads that ran or wanted to at the same time, on average

double main_threads_share(const Rank& rank) {
    if (rank.mpi_ns == 0) return 1;
    const std::uint64_t others = std::min(rank.mpi_other_thread_ns, rank.mpi_ns);
    return 1 - static_cast<double>(others) / static_cast<double>(rank.mpi_ns);
}

}  // namespace

// With several threads in MPI each has its share of it: the bound that all of them have together is least where these
// are equal.
double unblocked_beside_ns(const Rank& rank) {
    if (rank.usage.ran_ns == 0 || rank.is_begun_by_another || rank.other_threads == 0) return 0;
    const auto others = static_cast<double>(std::min(rank.mpi_other_thread_ns, rank.mpi_ns));
    const double own = static_cast<double>(rank.mpi_ns) - others;
    // In MPI it may have run for all of that time.
    const double unblocked = static_cast<double>(rank.usage.ran_ns + rank.usage.waited_ns) - own;
    const auto threads = static_cast<double>(rank.other_threads);
    const double each = unblocked + others / threads - static_cast<double>(rank.elapsed_ns);
    return std::clamp(threads * each, 0.0, others);
}

WhoseMpi whose_mpi(const Rank& rank) {
    if (main_threads_share(rank) >= 1 - hardly_any) return WhoseMpi::main_threads;
    const auto others = static_cast<double>(rank.mpi_other_thread_ns);
    if (unblocked_beside_ns(rank) >= good_part * others) return WhoseMpi::beside;
    const std::uint64_t waited = rank.usage.waited_ns + rank.usage.others_waited_ns + rank.assumed_ns;
    const auto unblocked = static_cast<double>(std::max(rank.usage.ran_ns, rank.cpu_ns) + waited);
    const bool is_one = static_cast<double>(rank.busiest_thread_ns) >= nearly_all * static_cast<double>(rank.mpi_ns);
    const bool is_alone = rank.usage.ran_ns != 0 && unblocked <= more_than_one * static_cast<double>(rank.elapsed_ns);
    return is_one && is_alone ? WhoseMpi::acting : WhoseMpi::any;
}

double own_share(const Rank& rank) { return whose_mpi(rank) == WhoseMpi::acting ? 1 : main_threads_share(rank); }

}  // namespace mpiprof::report
