// How long a tick is, from moments seen on two clocks (Anchor): a machine or container that slept, or a clock that was
// moved, leaves a stretch between two of them that goes by another pace. Used by both halves, as the texts of both have
// to agree.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libmpiprof/format/layout.h"

namespace mpiprof::format {

struct TickRate {
    std::uint64_t ns, ticks;  // so many nanoseconds are so many ticks; ticks == 0: nobody knows
    bool is_steady;           // all stretches go by one pace
};

namespace tick_rates {

using Wide = unsigned __int128;

// A tick of 10 ps to 1 us: the counters of real machines, 1 MHz to 100 GHz.
inline bool is_real(const TickRate& r) {
    return r.ns != 0 && r.ticks != 0 && Wide{r.ns} * 100 >= r.ticks && Wide{r.ns} <= Wide{r.ticks} * 1000;
}
inline TickRate between(const Anchor& from, const Anchor& to) {
    return {to.monotonic_ns - from.monotonic_ns, to.ticks > from.ticks ? to.ticks - from.ticks : 0, true};
}
inline bool is_longer(const TickRate& a, const TickRate& b) { return Wide{a.ns} * b.ticks > Wide{b.ns} * a.ticks; }
// By more than the system's clock is slewed by, and an interrupt between two readings takes.
inline bool differs(const TickRate& stretch, const TickRate& all) {
    const Wide a = Wide{stretch.ns} * all.ticks, b = Wide{all.ns} * stretch.ticks;
    const Wide allowed = b / 1000 + b / stretch.ns * 10'000;
    return (a > b ? a - b : b - a) > allowed;
}
inline std::uint64_t millionths_off(const TickRate& r, std::uint64_t khz) {
    const Wide a = Wide{r.ns} * khz, b = Wide{r.ticks} * 1'000'000;
    const Wide off = (a > b ? a - b : b - a) / r.ticks;
    return off > ~std::uint64_t{0} ? ~std::uint64_t{0} : static_cast<std::uint64_t>(off);
}
// The anchors that are set, by the system's clock.
template <std::size_t Most>
std::size_t sort(const Anchor* anchors, std::size_t count, const Anchor* (&sorted)[Most]) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < count && n < Most; ++i) {
        if (anchors[i].ticks == 0 || anchors[i].monotonic_ns == 0) continue;
        std::size_t at = n++;
        for (; at > 0 && anchors[i].monotonic_ns < sorted[at - 1]->monotonic_ns; --at) sorted[at] = sorted[at - 1];
        sorted[at] = anchors + i;
    }
    return n;
}

}  // namespace tick_rates

// `count` is 8 at most. `named_khz`: the rate that kernel or processor name for the counter; 0: they do not.
// Where the pace changes, the rate is that of the stretch that goes as named, else of the one in which a tick is
// longest: the system's clock stands still while a machine sleeps, the counter goes on. No floating point, whose traps
// the program may have set.
inline TickRate tick_rate(const Anchor* anchors, std::size_t count, std::uint64_t named_khz = 0) {
    using namespace tick_rates;
    constexpr std::uint64_t shortest_ns = 1'000'000, far_ns = 10'000'000;
    const Anchor* sorted[8];
    const std::size_t n = sort(anchors, count, sorted);
    if (n < 2) return {0, 0, true};
    const TickRate all = between(*sorted[0], *sorted[n - 1]);
    bool is_steady = is_real(all);
    TickRate longest{0, 0, false}, as_named{0, 0, false};
    std::uint64_t nearest = 10'000;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        TickRate stretch = between(*sorted[i], *sorted[i + 1]);
        if (stretch.ns < shortest_ns) {  // it says nothing, unless the counter went far meanwhile
            is_steady &= Wide{stretch.ticks} * all.ns < Wide{all.ticks} * far_ns;
            continue;
        }
        is_steady &= is_real(stretch) && is_real(all) && !differs(stretch, all);
        if (!is_real(stretch)) continue;
        stretch.is_steady = false;
        if (longest.ticks == 0 || is_longer(stretch, longest)) longest = stretch;
        const std::uint64_t off = millionths_off(stretch, named_khz);
        if (off >= nearest) continue;
        nearest = off;
        as_named = stretch;
    }
    if (is_steady) return all;
    if (as_named.ticks != 0) return as_named;
    if (longest.ticks == 0) return is_real(all) ? TickRate{all.ns, all.ticks, false} : TickRate{0, 0, false};
    return named_khz != 0 ? TickRate{1'000'000, named_khz, false} : longest;
}

}  // namespace mpiprof::format
