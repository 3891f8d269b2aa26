// Medians, ratios, and where the gains stop.
#include "report/compare/scaling.h"

#include <algorithm>
#include <map>
#include <utility>

#include "report/statistics/statistics.h"

namespace mpiprof::report {
namespace {

// Medians over the repeats of those that say it.
std::optional<double> median_of_known(const std::vector<const Sample*>& repeats, std::optional<double> Sample::*value) {
    std::vector<double> known;
    for (const Sample* sample : repeats)
        if (sample->*value) known.push_back(*(sample->*value));
    return known.empty() ? std::nullopt : std::optional(median_of(std::move(known)));
}

ScalingPoint point_of(double n, const std::vector<const Sample*>& repeats) {
    std::vector<double> seconds;
    for (const Sample* sample : repeats) seconds.push_back(sample->seconds);
    const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
    return {.n = n,
            .seconds = median_of(seconds),
            .repeats = repeats.size(),
            .least = *least,
            .most = *most,
            .items_per_second = median_of_known(repeats, &Sample::items_per_second)};
}

// The repeats of both points that make the gain between them smallest, or largest.
enum class Edge : std::uint8_t { middle, least, most };

// What each unit between two points adds, in units of the smallest.
double gain_between(const Scaling& scaling, const ScalingPoint& from, const ScalingPoint& to,
                    Edge edge = Edge::middle) {
    const ScalingPoint& smallest = scaling.smallest();
    const auto speedup = [&](const ScalingPoint& at, double seconds) {
        return (scaling.is_weak ? at.n / smallest.n : 1) * smallest.seconds / seconds;
    };
    const double before = edge == Edge::middle ? from.seconds : edge == Edge::least ? from.least : from.most;
    const double after = edge == Edge::middle ? to.seconds : edge == Edge::least ? to.most : to.least;
    return (speedup(to, after) - speedup(from, before)) / ((to.n - from.n) / smallest.n);
}

}  // namespace

bool Scaling::is_close() const {
    if (last_worth > 0 && gain_between(*this, points[worth_before], points[last_worth], Edge::least) < worth)
        return true;
    return std::any_of(
        points.begin() + static_cast<std::ptrdiff_t>(last_worth) + 1, points.end(),
        [&](const ScalingPoint& p) { return gain_between(*this, points[last_worth], p, Edge::most) >= worth; });
}

Scaling scaling_of(std::string name, const std::vector<Sample>& samples, bool is_weak, double worth) {
    Scaling scaling{.name = std::move(name), .points = {}, .is_weak = is_weak, .worth = worth};
    std::map<double, std::vector<const Sample*>> by_n;
    for (const Sample& sample : samples) by_n[sample.n].push_back(&sample);
    std::optional<double> smallest_resources;
    for (const auto& [n, repeats] : by_n) {
        ScalingPoint point = point_of(n, repeats);
        const std::optional<double> resources = median_of_known(repeats, &Sample::resources);
        if (scaling.points.empty()) smallest_resources = resources;
        const ScalingPoint& smallest = scaling.points.empty() ? point : scaling.points.front();
        const double p = n / smallest.n;
        point.speedup = (is_weak ? p : 1) * smallest.seconds / point.seconds;
        point.efficiency = point.speedup / p;
        const double grown = resources && smallest_resources ? *resources / *smallest_resources : p;
        point.relative_su = grown / point.speedup;
        if (!scaling.points.empty()) {
            const ScalingPoint& before = scaling.points.back();
            point.gain = gain_between(scaling, before, point);
            if (!is_weak) point.karp_flatt = (1 / point.speedup - 1 / p) / (1 - 1 / p);
            if (gain_between(scaling, scaling.points[scaling.last_worth], point) >= worth)
                scaling.worth_before = std::exchange(scaling.last_worth, scaling.points.size());
        }
        scaling.points.push_back(point);
    }
    return scaling;
}

}  // namespace mpiprof::report
