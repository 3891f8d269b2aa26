// A lane is what one rank recorded of itself; its slices rarely end where a period does, so they are shared out.
#include "report/analysis/periods.h"

#include <algorithm>

namespace mpiprof::report {
namespace {

// Adds what happened in [begin, end) to the periods that it covers, in proportion.
template <class Add>
void spread(Periods& periods, double width, double begin, double end, Add add) {
    if (!(end > begin) || !(width > 0)) return;
    const auto last = static_cast<double>(periods.size() - 1);
    const auto first = static_cast<std::size_t>(std::clamp(begin / width, 0.0, last));
    for (std::size_t i = first; i < periods.size(); ++i) {
        const double from = i == first ? begin : static_cast<double>(i) * width;
        const bool is_last = i + 1 == periods.size() || end <= static_cast<double>(i + 1) * width;
        const double to = is_last ? end : static_cast<double>(i + 1) * width;
        add(periods[i], (to - from) / (end - begin));
        if (is_last) return;
    }
}

void add_lane(Periods& periods, const Lane& lane, const Axis& axis) {
    const double width = axis.length() / static_cast<double>(periods.size());
    const auto start = static_cast<double>(lane.rank->started_at_ns - axis.begin_ns);
    const auto lived = static_cast<double>(lane.rank->elapsed_ns);
    spread(periods, width, start, start + lived, [&](Period& p, double part) { p.lived_ns += part * lived; });
    const auto each_bin = [&](const Activity& activity, auto add) {
        for (std::size_t i = 0; i < activity.bins.size(); ++i) {
            const ActivityBin& bin = activity.bins[i];
            if (bin.time_ns == 0 && bin.bytes == 0) continue;
            const double begin = start + static_cast<double>(i) * activity.width_ns;
            // The last bin is not over when the rank ends.
            const double end = std::max(std::min(begin + activity.width_ns, start + lived), begin + 1);
            spread(periods, width, begin, end, [&](Period& p, double part) { add(p, part, bin); });
        }
    };
    each_bin(*lane.activity, [](Period& p, double part, const ActivityBin& bin) {
        p.time_ns += part * static_cast<double>(bin.time_ns);
        p.bytes += part * static_cast<double>(bin.bytes);
    });
    each_bin(*lane.pauses, [](Period& p, double part, const ActivityBin& bin) {
        p.off_ns += part * static_cast<double>(bin.time_ns);
    });
}

}  // namespace

std::vector<Lane> lanes_of(const Job& job, std::span<const std::uint32_t> ranks) {
    std::vector<Lane> lanes;
    for (const RankActivity& activity : job.activities) {
        const Rank* rank = job.find(activity.rank);
        if (!rank || rank->elapsed_ns == 0) continue;
        if (ranks.empty() || std::binary_search(ranks.begin(), ranks.end(), rank->rank))
            lanes.push_back({rank, &activity.activity, &activity.pauses});
    }
    return lanes;
}

Axis axis_of(const std::vector<Lane>& lanes) {
    Axis axis;
    for (const Lane& lane : lanes) {
        axis.begin_ns = std::min(axis.begin_ns, lane.rank->started_at_ns);
        axis.end_ns = std::max(axis.end_ns, lane.rank->started_at_ns + lane.rank->elapsed_ns);
    }
    return axis;
}

Periods periods_of(const std::vector<Lane>& lanes, const Axis& axis, std::size_t count) {
    Periods periods(count);
    for (const Lane& lane : lanes) add_lane(periods, lane, axis);
    return periods;
}

}  // namespace mpiprof::report
