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

// `count` is 8 at most. `named_khz`: the rate that kernel or processor name for the counter; 0: they do not.
// Where the pace changes, the rate is that of the stretch that goes as named, else of the one in which a tick is
// longest: the system's clock stands still while a machine sleeps, the counter goes on.
inline TickRate tick_rate(const Anchor* anchors, std::size_t count, std::uint64_t named_khz = 0) {
    constexpr std::size_t most = 8;
    constexpr double fastest = 0.01, slowest = 1000;  // ns a tick: the counters of real machines, 1 MHz to 100 GHz
    constexpr std::uint64_t shortest_ns = 1'000'000;
    const Anchor* sorted[most];
    std::size_t n = 0;
    for (std::size_t i = 0; i < count && n < most; ++i) {
        const Anchor& anchor = anchors[i];
        if (anchor.ticks == 0 || anchor.monotonic_ns == 0) continue;
        std::size_t at = n++;
        for (; at > 0 && anchor.monotonic_ns < sorted[at - 1]->monotonic_ns; --at) sorted[at] = sorted[at - 1];
        sorted[at] = &anchor;
    }
    const auto between = [](const Anchor& from, const Anchor& to) {
        return TickRate{to.monotonic_ns - from.monotonic_ns, to.ticks > from.ticks ? to.ticks - from.ticks : 0, true};
    };
    const auto pace = [](const TickRate& r) { return static_cast<double>(r.ns) / static_cast<double>(r.ticks); };
    const auto is_real = [&](const TickRate& r) {
        return r.ns != 0 && r.ticks != 0 && pace(r) >= fastest && pace(r) <= slowest;
    };
    if (n < 2) return {0, 0, true};
    const TickRate all = between(*sorted[0], *sorted[n - 1]);
    // What the system's clock is slewed by, and what interrupts between two readings may be.
    const auto differs = [&](double a, double b, std::uint64_t ns) {
        const double allowed = (1e-3 + 1e4 / static_cast<double>(ns)) * b;
        return a > b + allowed || a < b - allowed;
    };
    bool is_steady = is_real(all);
    TickRate longest{0, 0, false}, as_named{0, 0, false};
    double nearest = 0.01;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        const TickRate stretch = between(*sorted[i], *sorted[i + 1]);
        if (stretch.ns < shortest_ns) {  // it says nothing, unless the counter went far meanwhile
            is_steady &= !is_real(all) || static_cast<double>(stretch.ticks) * pace(all) < 1e7;
            continue;
        }
        is_steady &= is_real(stretch) && is_real(all) && !differs(pace(stretch), pace(all), stretch.ns);
        if (!is_real(stretch)) continue;
        if (longest.ticks == 0 || pace(stretch) > pace(longest)) longest = {stretch.ns, stretch.ticks, false};
        const double off = pace(stretch) * static_cast<double>(named_khz) * 1e-6 - 1;
        if ((off < 0 ? -off : off) >= nearest) continue;
        nearest = off < 0 ? -off : off;
        as_named = {stretch.ns, stretch.ticks, false};
    }
    if (is_steady) return all;
    if (as_named.ticks != 0) return as_named;
    if (named_khz != 0 && longest.ticks != 0) return {1'000'000, named_khz, false};
    if (longest.ticks != 0) return longest;
    return is_real(all) ? TickRate{all.ns, all.ticks, false} : TickRate{0, 0, false};
}

}  // namespace mpiprof::format
