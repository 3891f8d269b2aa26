// Ranks that are late in turn. For the rules about slow ranks, whose sums would be put together, and those about
// waiting for nobody in particular.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "report/analysis/last_ranks.h"
#include "report/analysis/periods.h"

namespace mpiprof::report {
namespace {

// The one that was outside MPI for longest in each period, and clearly so.
std::vector<std::optional<std::uint32_t>> latest_by_period(const std::vector<Lane>& lanes) {
    constexpr double clearly = 0.1;  // of a period, more than the next one
    std::vector<std::optional<std::uint32_t>> latest(periods_of_course);
    std::vector<double> most(periods_of_course, -1), next(periods_of_course, -1);
    const Axis axis = axis_of(lanes);
    for (const Lane& lane : lanes) {
        const Periods periods = periods_of({lane}, axis, periods_of_course);
        for (std::size_t i = 0; i < periods_of_course; ++i) {
            const double outside = periods[i].recorded_ns() > 0 ? 1 - std::min(1.0, periods[i].share()) : -1;
            if (outside > most[i]) {
                next[i] = std::exchange(most[i], outside);
                latest[i] = lane.rank->rank;
            } else {
                next[i] = std::max(next[i], outside);
            }
        }
    }
    for (std::size_t i = 0; i < periods_of_course; ++i)
        if (most[i] - next[i] < clearly) latest[i].reset();
    return latest;
}

}  // namespace

Ranks late_in_turn(const Job& job) {
    constexpr std::size_t long_turn = 4;  // periods, on average
    const std::vector<Lane> lanes = lanes_of(job, {});
    const double width = lanes.empty() ? 0 : axis_of(lanes).length() / periods_of_course;
    const auto is_coarse = [&](const Lane& lane) { return lane.activity->width_ns > 2 * width; };
    if (width <= 0 || std::any_of(lanes.begin(), lanes.end(), is_coarse)) return {};
    Ranks turns;
    std::size_t told = 0;
    for (const auto& latest : latest_by_period(lanes)) {
        told += latest.has_value();
        if (latest && (turns.empty() || turns.back() != *latest)) turns.push_back(*latest);
    }
    if (turns.size() < 2 || 2 * told < periods_of_course || told < long_turn * turns.size()) return {};
    return turns;
}

}  // namespace mpiprof::report
