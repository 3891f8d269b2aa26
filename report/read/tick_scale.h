// Ticks -> nanoseconds, by the anchors of a profile: format/tick_rate.h says which.
// Used by the profile reader only; durations beyond 2^64 ns become the largest number.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "libmpiprof/format/layout.h"

namespace mpiprof::report {

class TickScale {
  public:
    // Ticks that are nanoseconds (ClockKind::monotonic).
    TickScale() = default;
    // Empty if the anchors cannot tell: fewer than two moments, or a clock that no machine has.
    // `named_khz`: the counter's rate by kernel or processor; 0: not known.
    static std::optional<TickScale> from(std::span<const format::Anchor> anchors, std::uint64_t named_khz = 0);
    // Between all anchors the clocks went by one pace: no sleep of the machine, and nobody moved one of them.
    bool is_steady() const { return is_steady_; }

    std::uint64_t ns(std::uint64_t ticks) const {
        if (is_identity_) return ticks;
        using Wide = unsigned __int128;
        if (whole_ == 0)  // of a counter that is faster than 1 GHz
            return static_cast<std::uint64_t>((Wide{ticks} * fraction_ + (Wide{1} << 63)) >> 64);
        const Wide whole = Wide{ticks} * whole_;
        const Wide part = (Wide{ticks} * fraction_ + (Wide{1} << 63)) >> 64;
        const Wide sum = whole + part;
        return sum > ~std::uint64_t{0} ? ~std::uint64_t{0} : static_cast<std::uint64_t>(sum);
    }
    double ns_exact(std::uint64_t ticks) const { return static_cast<double>(ticks) * ns_per_tick_; }
    double ns_exact(std::int64_t ticks) const { return static_cast<double>(ticks) * ns_per_tick_; }

  private:
    bool is_identity_ = true;
    bool is_steady_ = true;
    std::uint64_t whole_ = 1;     // ns per tick: whole part ...
    std::uint64_t fraction_ = 0;  // ... and 2^-64ths, so that a conversion is two multiplications
    double ns_per_tick_ = 1.0;
};

}  // namespace mpiprof::report
