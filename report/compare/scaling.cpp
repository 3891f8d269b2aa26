// Medians, ratios, and where the gains stop.
#include "report/compare/scaling.h"

#include <algorithm>
#include <map>

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

// What each unit between two points adds, in units of the smallest, where they took so long.
struct Gain {
    double base_n, base_seconds, before_n, n;
    bool is_weak;

    double speedup(double at, double seconds) const { return (is_weak ? at / base_n : 1) * base_seconds / seconds; }
    double of(double before_seconds, double seconds) const {
        return (speedup(n, seconds) - speedup(before_n, before_seconds)) / ((n - before_n) / base_n);
    }
};

}  // namespace

bool Scaling::is_close() const {
    const auto might_be_worth = [&](const ScalingPoint& point) { return point.most_gain >= worth; };
    if (std::any_of(points.begin() + static_cast<std::ptrdiff_t>(last_worth) + 1, points.end(), might_be_worth))
        return true;
    return points[last_worth].gain && points[last_worth].least_gain < worth;
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
            const Gain gain{smallest.n, smallest.seconds, before.n, n, is_weak};
            point.gain = gain.of(before.seconds, point.seconds);
            point.least_gain = gain.of(before.least, point.most);
            point.most_gain = gain.of(before.most, point.least);
            if (!is_weak) point.karp_flatt = (1 / point.speedup - 1 / p) / (1 - 1 / p);
            if (*point.gain >= worth) scaling.last_worth = scaling.points.size();
        }
        scaling.points.push_back(point);
    }
    return scaling;
}

}  // namespace mpiprof::report
