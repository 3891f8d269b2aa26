// What was measured is exact and comes first; what is estimated divides it and never adds to it.
#include "report/analysis/budget.h"

#include <algorithm>

#include "report/analysis/beside.h"
#include "report/analysis/processors.h"

namespace mpiprof::report {
namespace {

double less(double from, double what) { return std::max(from - what, 0.0); }

// Parts of the time before "elapsed" begins. Our set-up lies there, too.
void add_start(Budget& budget, const Rank& rank) {
    budget[Part::init] = static_cast<double>(rank.init_ns);
    budget[Part::profiler] = budget.set_up_ns = static_cast<double>(rank.setup_ns);
    if (rank.process_ns == 0) return;
    const auto known = static_cast<double>(rank.elapsed_ns + rank.init_ns + rank.setup_ns);
    budget[Part::before_init] = less(static_cast<double>(rank.process_ns), known);
}

// What is inside MPI. Calls that are timed now and then stand for others, so their sum may be a little above the run:
// then each is that much less.
void add_inside(Budget& budget, const Rank& rank, double recorded) {
    const auto in_call = static_cast<double>(rank.in_call_ns);
    const double calls = static_cast<double>(rank.mpi_ns) * own_share(rank);
    const double fit = calls + in_call > recorded ? recorded / (calls + in_call) : 1;
    const auto part = [&](std::uint64_t ns) { return static_cast<double>(ns) * own_share(rank) * fit; };
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

void add_outside(Budget& budget, const Rank& rank, double outside) {
    const double own = std::min(rank.own_call_ns * static_cast<double>(rank.calls) * own_share(rank), outside);
    budget[Part::profiler] = budget.of(Part::profiler) + own;
    outside -= own;
    budget[Part::computing] = outside;
    const auto wait = processor_wait(rank);
    if (!wait) {
        // Nobody computes for longer than all threads had a processor.
        const auto had = static_cast<double>(rank.cpu_ns + rank.assumed_ns);
        const double at_most = rank.cpu_ns == 0 ? outside : std::min(outside, had);
        if (outside - at_most < 0.01 * outside) return;  // as exact as clocks are
        budget[Part::computing] = at_most;
        budget[Part::blocked] = outside - at_most;
        return;
    }
    budget[Part::processor] = std::min(wait->outside_ns, outside);
    budget[Part::blocked] = std::min(wait->blocked_ns, outside - *budget[Part::processor]);
    budget[Part::computing] = outside - *budget[Part::processor] - *budget[Part::blocked];
}

}  // namespace

double Budget::total() const {
    double sum = 0;
    for (const std::optional<double>& ns : ns_) sum += ns.value_or(0);
    return sum;
}

double Budget::run() const {
    double outside = set_up_ns;
    for (const Part part : {Part::before_init, Part::init, Part::paused, Part::finalize}) outside += of(part);
    return less(total(), outside);
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
    add_outside(budget, rank, less(recorded, inside));
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
        mean.set_up_ns += budget.set_up_ns / ranks;
    }
    return mean;
}

}  // namespace mpiprof::report
