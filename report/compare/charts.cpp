// Points of charts.
#include "report/compare/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace mpiprof::report {
namespace {

// Of one size bin, over its kinds of buffers.
struct BySize {
    double calls = 0, bytes = 0, ns = 0;
    double size() const { return bytes / calls; }
};

template <class Wanted>
std::map<unsigned, BySize> by_size(const Run& run, Wanted is_wanted) {
    std::map<unsigned, BySize> sizes;
    for (const RunCall& call : run.calls) {
        if (!call.is_timed || !carries_messages(call.traffic) || call.bytes == 0 || !is_wanted(call)) continue;
        BySize& to = sizes[call.bin];
        to.calls += static_cast<double>(call.calls);
        to.bytes += static_cast<double>(call.bytes);
        to.ns += static_cast<double>(call.time_ns);
    }
    return sizes;
}

std::string largest_call(const Run& run) {
    std::map<std::string, std::uint64_t> bytes;
    for (const RunCall& call : run.calls)
        if (call.is_timed && carries_messages(call.traffic)) bytes[call.call] += call.bytes;
    const auto most =
        std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == bytes.end() ? "" : most->first;
}

}  // namespace

Chart scaling_chart(const ScalingReport& report) {
    const bool is_weak = report.series.front().scaling.is_weak;
    Chart chart{.title = is_weak ? "Weak scaling" : "Scaling",
                .x = {Axis::Kind::integers, fmt::format("N ({})", report.unit.many)},
                .y = {Axis::Kind::linear, is_weak ? "Scaled speedup" : "Speedup"},
                .curves = {},
                .has_diagonal = true};
    for (const ScalingSeries& series : report.series) {
        Curve& curve = chart.curves.emplace_back(Curve{.name = series.scaling.name, .points = {}});
        const ScalingPoint& smallest = series.scaling.smallest();
        // As if the smallest scaled perfectly, so that the diagonal is that of all series.
        for (const ScalingPoint& point : series.scaling.points)
            curve.points.push_back({point.n, smallest.n * point.speedup});
    }
    return chart;
}

Chart bandwidth_chart(const std::vector<Run>& runs, const std::string& call) {
    Chart chart{.title = "Bandwidth of single calls",
                .x = {Axis::Kind::bytes, "Size of a call"},
                .y = {Axis::Kind::decades, "MB/s"},
                .curves = {}};
    for (const Run& run : runs) {
        const std::string name = call.empty() ? largest_call(run) : call;
        Curve curve{.name = fmt::format("{}: {}", run.label, name), .points = {}};
        for (const auto& [bin, sum] : by_size(run, [&](const RunCall& one) { return one.call == name; }))
            if (sum.ns > 0) curve.points.push_back({sum.size(), sum.bytes / sum.ns * 1e3});
        if (!curve.points.empty()) chart.curves.push_back(std::move(curve));
    }
    return chart;
}

Chart sizes_chart(const std::vector<Run>& runs) {
    Chart chart{.title = "Calls by size",
                .x = {Axis::Kind::bytes, "Size of a call"},
                .y = {Axis::Kind::decades, "Calls"},
                .curves = {}};
    for (const Run& run : runs) {
        Curve curve{.name = run.label, .points = {}};
        for (const auto& [bin, sum] : by_size(run, [](const RunCall&) { return true; }))
            curve.points.push_back({sum.size(), sum.calls});
        if (!curve.points.empty()) chart.curves.push_back(std::move(curve));
    }
    return chart;
}

}  // namespace mpiprof::report
