// Of the first verdict alone: several would hide the map.
#include "report/analysis/verdict_moments.h"

namespace mpiprof::report {

std::vector<VerdictMoment> verdict_moments(const Analysed& all, const Axis& axis) {
    std::vector<VerdictMoment> moments;
    const auto* imbalance = std::get_if<evidence::Imbalance>(&all.cause().evidence);
    if (!imbalance || !imbalance->when || axis.length() <= 0) return moments;
    const auto add = [&](std::uint64_t time_ns, bool begins) {
        if (time_ns > axis.begin_ns && time_ns < axis.end_ns)
            moments.push_back(
                {static_cast<double>(time_ns - axis.begin_ns) / axis.length(), time_ns, begins, all.cause().rule});
    };
    add(imbalance->when->began_at, true);
    add(imbalance->when->ended_at, false);
    return moments;
}

}  // namespace mpiprof::report
