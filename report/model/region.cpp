// numpy's method "linear", on times that stand once with how often they were.
#include "report/model/region.h"

namespace mpiprof::report {

double percentile_of(std::span<const RegionRow::Times> times, double share) {
    constexpr double us_per_s = 1e6;
    std::uint64_t all = 0;
    for (const RegionRow::Times& time : times) all += time.count;
    if (all == 0) return 0;
    const double position = share * static_cast<double>(all - 1);
    const auto below = static_cast<std::uint64_t>(position);
    const double t = position - static_cast<double>(below);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        seen += times[i].count;
        if (seen <= below) continue;
        const bool is_last_of_its = seen == below + 1 && i + 1 < times.size();
        const double low = times[i].us / us_per_s;
        const double high = is_last_of_its ? times[i + 1].us / us_per_s : low;
        // From the nearer end, as numpy does.
        return t < 0.5 ? low + (high - low) * t : high - (high - low) * (1 - t);
    }
    return times.back().us / us_per_s;
}

}  // namespace mpiprof::report
