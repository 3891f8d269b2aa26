// The kernel says how long; stretches of the run say where.
#include "report/analysis/processors.h"

#include <algorithm>

#include "report/analysis/beside.h"

namespace mpiprof::report {
namespace {

constexpr double seen_enough_ns = 2'000'000;

// What a rank waits in so much time, if it waits as in these stretches.
double waited_in(double time, const Usage::Stretches& stretches) {
    return stretches.ns == 0 ? 0 : time * static_cast<double>(stretches.waited_ns) / static_cast<double>(stretches.ns);
}

// What of the time between calls was neither run nor waited for a processor.
double blocked_in(double time, const Usage::Stretches& between) {
    if (static_cast<double>(between.ns) < seen_enough_ns) return 0;
    return time * (1 - static_cast<double>(between.ran_ns + between.waited_ns) / static_cast<double>(between.ns));
}

// Whether the kernel's account in the profile is of the thread whose budget is the rank's.
bool is_accounted(const Rank& rank) {
    const WhoseMpi whose = whose_mpi(rank);
    if (rank.usage.ran_ns == 0 || whose == WhoseMpi::any) return false;
    return rank.is_begun_by_another == (whose == WhoseMpi::acting);
}

}  // namespace

std::optional<ProcessorWait> processor_wait(const Rank& rank) {
    const Usage& usage = rank.usage;
    if (!is_accounted(rank)) return std::nullopt;
    const auto recorded = static_cast<double>(rank.recorded_ns());
    const double inside = std::min(static_cast<double>(rank.inside_ns()) * own_share(rank), recorded);
    const double outside = recorded - inside;
    const auto waited = std::min(static_cast<double>(usage.waited_ns), recorded);
    const double most = std::min(waited, outside), least = std::max(waited - inside, 0.0);
    ProcessorWait wait;
    const double seen = static_cast<double>(usage.between_calls.waited_ns + usage.in_calls.waited_ns);
    if (seen >= seen_enough_ns) {
        const double between = waited_in(outside, usage.between_calls), in = waited_in(inside, usage.in_calls);
        wait = {.outside_ns = between + in > 0 ? waited * between / (between + in) : 0, .is_measured = true};
    } else if (waited >= shortest_slice_ns * static_cast<double>(usage.switches())) {
        wait.outside_ns = recorded > 0 ? waited * outside / recorded : 0;
    }
    wait.outside_ns = std::clamp(wait.outside_ns, least, most);
    const double not_waited = outside - wait.outside_ns;
    const auto ran = static_cast<double>(usage.ran_ns);
    // Stretches may begin and end between two ticks of the kernel's, which credits what was run at the next one only:
    // of the whole run it is exact, and neither running nor waiting it was, inside MPI and outside, for no longer.
    const double neither = std::max(0.0, static_cast<double>(rank.elapsed_ns) - ran - waited);
    const double blocked = std::max(not_waited - ran, std::min(neither, blocked_in(outside, usage.between_calls)));
    if (blocked >= 0.01 * outside) wait.blocked_ns = std::min(blocked, not_waited);  // less is how exact clocks are
    return wait;
}

}  // namespace mpiprof::report
