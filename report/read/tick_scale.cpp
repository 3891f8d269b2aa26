// The rate of a clock from moments seen on two clocks.
#include "report/read/tick_scale.h"

#include "libmpiprof/format/tick_rate.h"

namespace mpiprof::report {

std::optional<TickScale> TickScale::from(std::span<const format::Anchor> anchors, std::uint64_t named_khz) {
    const auto [ns, ticks, is_steady] = format::tick_rate(anchors.data(), anchors.size(), named_khz);
    if (ticks == 0) return std::nullopt;
    TickScale scale;
    scale.is_identity_ = false;
    scale.is_steady_ = is_steady;
    scale.whole_ = ns / ticks;
    scale.fraction_ = static_cast<std::uint64_t>((static_cast<unsigned __int128>(ns % ticks) << 64) / ticks);
    scale.ns_per_tick_ = static_cast<double>(scale.whole_) + static_cast<double>(scale.fraction_) / 0x1p64;
    return scale;
}

}  // namespace mpiprof::report
