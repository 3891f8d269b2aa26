// Offsets are facts of the profile: "<its own clock> <to be added> <at most so wrong>", in nanoseconds.
#include "report/messages/clocks.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace mpiprof::report {
namespace {

// No machine runs so long, and no day is so far; sums and differences of several still fit.
constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max() / 8,
                       last_day = std::numeric_limits<std::int64_t>::max() / 2;

std::int64_t sane(std::uint64_t ns, std::int64_t most = latest) {
    return ns > static_cast<std::uint64_t>(most) ? most : static_cast<std::int64_t>(ns);
}

}  // namespace

std::optional<Clocks::Offset> Clocks::offset_in(const Profile& profile, const char* name) {
    for (const Fact& fact : profile.facts) {
        if (fact.kind != FactKind::process || fact.name != name) continue;
        std::int64_t numbers[3];
        const char* at = fact.value.data();
        const char* const end = at + fact.value.size();
        for (std::int64_t& number : numbers) {
            const auto read = std::from_chars(at, end, number);
            if (read.ec != std::errc{} || number > latest || number < -latest) return std::nullopt;
            at = read.ptr + (read.ptr != end && *read.ptr == ' ');
        }
        return Offset{numbers[0], numbers[1], static_cast<std::uint64_t>(std::max<std::int64_t>(numbers[2], 0))};
    }
    return std::nullopt;
}

void Clocks::meet(const Profile& profile) {
    RankClock clock;
    clock.node_ns = sane(profile.started_monotonic_ns);
    clock.node = profile.node;
    clock.day_ns = sane(profile.started_at_ns, last_day);
    if (!profile.node.empty() && clock.node_ns != 0)  // nobody sets it, unlike the time of day
        clock.day_ns = clock.node_ns + nodes_.try_emplace(profile.node, clock.day_ns - clock.node_ns).first->second;
    clock.at_start = offset_in(profile, "clock_offset_at_start");
    clock.at_end = offset_in(profile, "clock_offset_at_end");
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
    const Offset& start = *clock.at_start;
    if (!clock.at_end || clock.at_end->at_ns <= start.at_ns) return now + start.offset_ns;
    const Offset& end = *clock.at_end;
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
