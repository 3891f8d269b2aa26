// Between the two moments at which a clock was measured, its offset changes by the same each second.
#include "report/messages/clocks.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace mpiprof::report {
namespace {

// No machine runs so long, and no day is so far; sums and differences of several still fit.
constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max() / 8,
                       last_day = std::numeric_limits<std::int64_t>::max() / 2;

std::int64_t sane(std::uint64_t ns, std::int64_t most = latest) {
    return ns > static_cast<std::uint64_t>(most) ? most : static_cast<std::int64_t>(ns);
}

// One whose numbers no clock has is none.
std::optional<ClockOffset> sane(const std::optional<ClockOffset>& offset) {
    if (!offset || std::max(std::abs(offset->at_ns), std::abs(offset->offset_ns)) > latest || offset->error_ns > latest)
        return std::nullopt;
    return offset;
}

}  // namespace

void Clocks::meet(const Profile& profile) {
    RankClock clock;
    clock.node_ns = sane(profile.started_monotonic_ns);
    clock.node = profile.node;
    clock.day_ns = sane(profile.started_at_ns, last_day);
    if (!profile.node.empty() && clock.node_ns != 0)  // nobody sets it, unlike the time of day
        clock.day_ns = clock.node_ns + nodes_.try_emplace(profile.node, clock.day_ns - clock.node_ns).first->second;
    clock.at_start = sane(profile.clock_at_start);
    clock.at_end = sane(profile.clock_at_end);
    if (!clock.at_start || clock.node_ns == 0) ++unmeasured_;
    for (const auto& offset : {clock.at_start, clock.at_end})
        if (offset) largest_error_ns_ = std::max(largest_error_ns_, offset->error_ns);
    ranks_[profile.rank] = clock;
}

void Clocks::settle() {
    first_ns_ = std::numeric_limits<std::int64_t>::max();
    for (const auto& [rank, clock] : ranks_) first_ns_ = std::min(first_ns_, time_of(clock, 0));
}

std::int64_t Clocks::time_of(const RankClock& clock, std::uint64_t ns_after_init) const {
    const std::int64_t after = sane(ns_after_init);
    if (!are_measured()) return clock.day_ns + after;
    const std::int64_t now = clock.node_ns + after;
    const ClockOffset& start = *clock.at_start;
    if (!clock.at_end || clock.at_end->at_ns <= start.at_ns) return now + start.offset_ns;
    const ClockOffset& end = *clock.at_end;
    const double part = static_cast<double>(now - start.at_ns) / static_cast<double>(end.at_ns - start.at_ns);
    const double drift = static_cast<double>(end.offset_ns - start.offset_ns) * part;
    // Clocks that drift by more than a thousandth are none.
    const double most = 1e-3 * static_cast<double>(after) + 1e6;
    return now + start.offset_ns + static_cast<std::int64_t>(std::clamp(drift, -most, most));
}

std::int64_t Clocks::at(std::uint32_t rank, std::uint64_t ns_after_init) const {
    return time_of(ranks_.at(rank), ns_after_init) - first_ns_;
}

bool Clocks::agree(std::uint32_t a, std::uint32_t b) const {
    const RankClock &one = ranks_.at(a), &other = ranks_.at(b);
    const bool is_one_node = !one.node.empty() && one.node == other.node && one.node_ns != 0 && other.node_ns != 0;
    return a == b || is_one_node || are_measured();
}

}  // namespace mpiprof::report
