// What was measured is exact and comes first; what is estimated divides it and never adds to it.
#include "report/analysis/budget.h"

#include <algorithm>

namespace mpiprof::report {
namespace {

double less(double from, double what) { return std::max(from - what, 0.0); }

// Other threads inside MPI take nothing from the main thread.
double main_share(const Rank& rank) {
    if (rank.mpi_ns == 0) return 1;
    const std::uint64_t others = std::min(rank.mpi_other_thread_ns, rank.mpi_ns);
    return 1 - static_cast<double>(others) / static_cast<double>(rank.mpi_ns);
}

// The account is that of the thread that began MPI. Where another one makes the calls, it is not the main thread's.
bool knows_processor(const Rank& rank) { return rank.usage.ran_ns != 0 && main_share(rank) >= 0.9; }

// Parts of the time before "elapsed" begins. Our set-up lies there, too.
void add_start(Budget& budget, const Rank& rank) {
    budget[Part::init] = static_cast<double>(rank.init_ns);
    budget[Part::profiler] = static_cast<double>(rank.setup_ns);
    if (rank.process_ns == 0) return;
    const auto known = static_cast<double>(rank.elapsed_ns + rank.init_ns + rank.setup_ns);
    budget[Part::before_init] = less(static_cast<double>(rank.process_ns), known);
}

// What is inside MPI. Calls that are timed now and then stand for others, so their sum may be a little above the run:
// then each is that much less.
void add_inside(Budget& budget, const Rank& rank, double recorded) {
    const auto in_call = static_cast<double>(rank.in_call_ns);
    const double calls = static_cast<double>(rank.mpi_ns) * main_share(rank);
    const double fit = calls + in_call > recorded ? recorded / (calls + in_call) : 1;
    const auto part = [&](std::uint64_t ns) { return static_cast<double>(ns) * main_share(rank) * fit; };
    const double file = part(rank.file_ns), other = part(rank.other_ns);
    const double communicating = less(calls * fit, file + other);
    const double judged = std::min(part(rank.judged_ns), communicating);
    const double waiting = std::min(part(rank.waiting_ns), judged);
    budget[Part::file] = file;
    budget[Part::other] = other;
    budget[Part::unreturned] = in_call * fit;
    budget[Part::waiting_or_moving] = communicating - judged;
    if (rank.judged_ns == 0) return;
    budget[Part::waiting] = waiting;
    budget[Part::moving] = judged - waiting;
}

void add_outside(Budget& budget, const Rank& rank, double outside, double recorded) {
    budget[Part::computing] = outside;
    if (!knows_processor(rank) || recorded <= 0) return;
    const double waited = static_cast<double>(rank.usage.waited_ns) * outside / recorded;
    budget[Part::processor] = std::min(waited, outside);
    budget[Part::computing] = outside - *budget[Part::processor];
}

}  // namespace

double Budget::total() const {
    double sum = 0;
    for (const std::optional<double>& ns : ns_) sum += ns.value_or(0);
    return sum;
}

Budget budget_of(const Rank& rank) {
    Budget budget;
    const auto recorded = static_cast<double>(rank.recorded_ns());
    add_start(budget, rank);
    add_inside(budget, rank, recorded);
    double inside = 0;
    for (const Part part :
         {Part::waiting, Part::moving, Part::waiting_or_moving, Part::file, Part::other, Part::unreturned})
        inside += budget.of(part);
    add_outside(budget, rank, less(recorded, inside), recorded);
    budget[Part::paused] = static_cast<double>(rank.elapsed_ns) - recorded;
    budget[Part::finalize] = static_cast<double>(rank.finalize_ns);
    return budget;
}

Budget mean_budget(const Job& job) {
    Budget mean;
    double ranks = 0;
    for (const Rank& rank : job.ranks) ranks += rank.has_profile;
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile) continue;
        const Budget budget = budget_of(rank);
        for (const Part part : all_parts())
            if (const auto ns = budget[part]) mean[part] = mean.of(part) + *ns / ranks;
    }
    return mean;
}

}  // namespace mpiprof::report
