// The rate of a clock from moments seen on two clocks.
#include "report/read/tick_scale.h"

namespace mpiprof::report {
namespace {

// The counters of real machines: 1 MHz to 100 GHz.
constexpr double fastest_ns_per_tick = 0.01;
constexpr double slowest_ns_per_tick = 1000;

bool is_set(const format::Anchor& anchor) { return anchor.ticks != 0 && anchor.monotonic_ns != 0; }

}  // namespace

std::optional<TickScale> TickScale::from(std::span<const format::Anchor> anchors) {
    const format::Anchor* first = nullptr;
    const format::Anchor* last = nullptr;
    for (const format::Anchor& anchor : anchors) {
        if (!is_set(anchor)) continue;
        if (!first || anchor.monotonic_ns < first->monotonic_ns) first = &anchor;
        if (!last || anchor.monotonic_ns > last->monotonic_ns) last = &anchor;
    }
    if (!first || last->monotonic_ns == first->monotonic_ns || last->ticks <= first->ticks) return std::nullopt;

    const std::uint64_t ns = last->monotonic_ns - first->monotonic_ns;
    const std::uint64_t ticks = last->ticks - first->ticks;
    const double rate = static_cast<double>(ns) / static_cast<double>(ticks);
    if (rate < fastest_ns_per_tick || rate > slowest_ns_per_tick) return std::nullopt;
    TickScale scale;
    scale.is_identity_ = false;
    scale.whole_ = ns / ticks;
    scale.fraction_ = static_cast<std::uint64_t>((static_cast<unsigned __int128>(ns % ticks) << 64) / ticks);
    scale.ns_per_tick_ = static_cast<double>(scale.whole_) + static_cast<double>(scale.fraction_) / 0x1p64;
    return scale;
}

}  // namespace mpiprof::report
