// One function for each chart: from the figures of runs to its series of points.
#include "report/compare/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report/analysis/periods.h"
#include "report/analysis/verdict_moments.h"
#include "report/compare/transfer_tables.h"
#include "report/model/units.h"
#include "report/sections/run_headline.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t most_points = 256;   // of a curve over ranks; neighbours are put together
constexpr std::size_t most_lines = 64;     // of a map; the same
constexpr std::size_t periods_drawn = 60;  // as many as `time` has in data
constexpr std::size_t most_groups = 12;
constexpr std::size_t most_borders = 32;  // of nodes: of more there would be nothing else to see

// Of a period; not a number where hardly anything was recorded.
double share_of(const Period& period) {
    if (!period.is_recorded()) return std::nan("");
    return std::min(period.share(), 1.0);
}

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

// The one that moved most bytes, in all of the runs together: what is compared should be one function.
std::string largest_call(const std::vector<Run>& runs) {
    std::map<std::string, std::uint64_t> bytes;
    for (const Run& run : runs)
        for (const RunCall& call : run.calls)
            if (call.is_timed && carries_messages(call.traffic)) bytes[call.call] += call.bytes;
    const auto most =
        std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == bytes.end() ? "" : most->first;
}

// Of which runs a picture is: the first, and how many others, whose names the legend has.
class OfRuns {
  public:
    void add(const std::string& in_a_line) {
        if (in_a_line.empty()) return;
        if (first_.empty()) first_ = in_a_line;
        ++runs_;
    }
    std::string text() const {
        return runs_ < 2 ? first_ : fmt::format("{}, and {}", first_, plural(runs_ - 1, "other run", "other runs"));
    }

  private:
    std::string first_;
    std::size_t runs_ = 0;
};

std::string of_runs(const std::vector<Run>& runs) {
    OfRuns of;
    for (const Run& run : runs) of.add(run.in_a_line);
    return of.text();
}

// Of a chart to which runs are added one by one, each with so many curves.
void name_run(Chart& chart, const Job& job, std::size_t curves_each) {
    if (chart.curves.empty()) chart.of = run_in_a_line(job);
    if (chart.curves.size() == curves_each) chart.of += ", and others";
}

bool makes(const Run& run, const std::string& name) {
    return std::ranges::any_of(run.calls, [&](const RunCall& call) { return call.call == name && call.bytes != 0; });
}

}  // namespace

Chart scaling_chart(const ScalingReport& report, ScalingCurve kind) {
    const Scaling& first = report.series.front().scaling;
    const std::string speedup = first.is_weak ? "Scaled speedup" : "Speedup";
    OfRuns of;
    for (const ScalingSeries& series : report.series)
        for (const SizedRun& sized : series.runs) of.add(sized.run.in_a_line);
    Chart chart{.title = first.is_weak ? "Weak scaling" : "Scaling",
                .of = of.text(),
                .x = {ChartAxis::Kind::integers, fmt::format("N ({})", report.unit.many)},
                .y = {ChartAxis::Kind::linear, speedup},
                .curves = {},
                .has_diagonal = kind == ScalingCurve::speedup};
    const ScalingPoint& base = first.smallest();
    if (kind == ScalingCurve::time) chart.y.title = "Time (s)";
    if (kind == ScalingCurve::performance)
        chart.y.title =
            fmt::format("Times as fast as{}{} at N = {:g}", first.name.empty() ? "" : " ", first.name, base.n);
    for (const ScalingSeries& series : report.series) {
        Curve& curve = chart.curves.emplace_back(Curve{.name = series.scaling.name, .points = {}});
        const ScalingPoint& smallest = series.scaling.smallest();
        for (const ScalingPoint& point : series.scaling.points) {
            // As if the smallest scaled perfectly, so that the diagonal is that of all series.
            const double y = kind == ScalingCurve::time          ? point.seconds
                             : kind == ScalingCurve::performance ? base.seconds / point.seconds
                                                                 : smallest.n * point.speedup;
            curve.points.push_back({point.n, y});
        }
    }
    return chart;
}

Chart bandwidth_chart(const std::vector<Run>& runs, const std::string& call) {
    Chart chart{.title = "Bandwidth of single calls",
                .of = of_runs(runs),
                .x = {ChartAxis::Kind::bytes, "Size of a call"},
                .y = {ChartAxis::Kind::decades, "MB/s"},
                .curves = {}};
    const std::string common = call.empty() ? largest_call(runs) : call;
    for (const Run& run : runs) {
        const std::string name = call.empty() && !makes(run, common) ? largest_call({run}) : common;
        const auto is_it = [&](const RunCall& one) { return one.call == name && one.bytes != 0; };
        std::set<Buffer> buffers;
        for (const RunCall& one : run.calls)
            if (is_it(one)) buffers.insert(one.buffer);
        for (const Buffer buffer : buffers) {
            Curve curve{.name = fmt::format("{}: {}", run.label, name), .points = {}};
            if (buffers.size() > 1 || buffer != Buffer::host) curve.name += fmt::format(", {}", name_of(buffer));
            const auto is_wanted = [&](const RunCall& one) { return is_it(one) && one.buffer == buffer; };
            for (const auto& [bin, sum] : by_size(run, is_wanted))
                if (sum.ns > 0) curve.points.push_back({sum.size(), sum.bytes / sum.ns * 1e3});
            if (!curve.points.empty()) chart.curves.push_back(std::move(curve));
        }
    }
    return chart;
}

Chart bandwidth_chart(const std::vector<TransferRun>& runs) {
    OfRuns of;
    for (const TransferRun& run : runs) of.add(run.in_a_line);
    Chart chart{.title = "Bandwidth of messages, from when both sides had posted",
                .of = of.text(),
                .x = {ChartAxis::Kind::bytes, "Size of a message"},
                .y = {ChartAxis::Kind::decades, "MB/s"},
                .curves = {}};
    for (const TransferRun& run : runs) {
        std::map<std::pair<BufferPath, Nearness>, Curve> curves;
        for (const TransferClass& one : run.classes)
            if (one.bytes_per_second > 0)
                curves[{one.buffers, one.distance}].points.push_back({one.size(), one.bytes_per_second / 1e6});
        for (auto& [of, curve] : curves) {
            const auto& [buffers, distance] = of;
            curve.name = run.label;
            if (buffers.from != Buffer::host || buffers.to != Buffer::host) curve.name += ": " + buffer_text(buffers);
            if (run.has_several_nodes) curve.name += fmt::format(", {}", name_of(distance));
            chart.curves.push_back(std::move(curve));
        }
    }
    return chart;
}

Chart sizes_chart(const std::vector<Run>& runs) {
    Chart chart{.title = "Calls by size",
                .of = of_runs(runs),
                .x = {ChartAxis::Kind::bytes, "Size of a call"},
                .y = {ChartAxis::Kind::decades, "Calls"},
                .curves = {}};
    for (const Run& run : runs) {
        Curve curve{.name = run.label, .points = {}};
        for (const auto& [bin, sum] : by_size(run, [](const RunCall&) { return true; }))
            curve.points.push_back({sum.size(), sum.calls});
        if (!curve.points.empty()) chart.curves.push_back(std::move(curve));
    }
    return chart;
}

Histograms sizes_histograms(const Run& run) {
    std::map<std::string, std::uint64_t> time;
    for (const RunCall& call : run.calls)
        if (call.is_timed && carries_messages(call.traffic) && call.bytes != 0) time[call.call] += call.time_ns;
    std::vector<std::pair<std::string, std::uint64_t>> largest(time.begin(), time.end());
    std::ranges::stable_sort(largest, std::greater<>(), &std::pair<std::string, std::uint64_t>::second);
    const bool is_cut = largest.size() > most_groups;
    if (is_cut) largest.resize(most_groups);
    Histograms all{
        .title = is_cut ? fmt::format("Calls by size: the {} functions with most time", most_groups) : "Calls by size",
        .of = run.in_a_line,
        .axis = "Size of a call, up to",
        .unit = "calls",
        .bins = {},
        .lines = {}};
    std::vector<std::map<unsigned, BySize>> sizes;
    unsigned first = size_bins, end = 0;
    for (const auto& [name, ns] : largest) {
        sizes.push_back(by_size(run, [&name = name](const RunCall& call) { return call.call == name; }));
        first = std::min(first, sizes.back().begin()->first);
        end = std::max(end, sizes.back().rbegin()->first + 1);
    }
    for (unsigned bin = first; bin < end; ++bin)
        all.bins.push_back(human_bytes(static_cast<double>(bin_max_bytes(static_cast<std::uint8_t>(bin)))));
    for (std::size_t i = 0; i < largest.size(); ++i) {
        all.lines.push_back({largest[i].first, std::vector<double>(end - first, 0.0)});
        Histograms::Line& line = all.lines.back();
        for (const auto& [bin, sum] : sizes[i]) line.counts[bin - first] = sum.calls;
    }
    return all;
}

Strip ranks_strip(const Job& job) {
    const std::string library(vocabulary_of(job).library);
    Strip strip{.title = "Ranks",
                .of = run_in_a_line(job),
                .parts = {{"outside " + library, "#c3ccd8"},
                          {"waiting for other ranks", "#b3441e"},
                          {"in calls that have not returned", "#7d5a3c"},
                          {"otherwise in " + library, "#4f9aa8"}},
                .ranks = {}};
    for (const Rank& rank : job.ranks) {
        if (rank.elapsed_ns == 0) continue;
        const auto waiting = static_cast<double>(std::min(rank.waiting_ns, rank.mpi_ns));
        strip.ranks.push_back({rank.rank,
                               job.hosts[rank.host],
                               {static_cast<double>(rank.outside_ns()), waiting, static_cast<double>(rank.in_call_ns),
                                static_cast<double>(rank.mpi_ns) - waiting}});
    }
    return strip;
}

void add_ranks(Chart& chart, const Job& job, const std::string& label) {
    chart.title = "Ranks";
    chart.x = {ChartAxis::Kind::integers, "Rank"};
    chart.y = {ChartAxis::Kind::linear, "Time (s)"};
    const std::string library(vocabulary_of(job).library);
    Curve inside{.name = fmt::format("{}in {}", label, library), .points = {}},
        outside{.name = fmt::format("{}outside {}", label, library), .points = {}};
    std::vector<const Rank*> ranks;
    for (const Rank& rank : job.ranks)
        if (rank.elapsed_ns != 0) ranks.push_back(&rank);
    const std::size_t block = std::max<std::size_t>(1, (ranks.size() + most_points - 1) / most_points);
    for (std::size_t begin = 0; begin < ranks.size(); begin += block) {
        const std::size_t end = std::min(begin + block, ranks.size());
        double in = 0, out = 0;
        for (std::size_t i = begin; i < end; ++i) {
            in += static_cast<double>(ranks[i]->inside_ns()) / 1e9;
            out += static_cast<double>(ranks[i]->outside_ns()) / 1e9;
        }
        const auto count = static_cast<double>(end - begin);
        inside.points.push_back({static_cast<double>(ranks[begin]->rank), in / count});
        outside.points.push_back({static_cast<double>(ranks[begin]->rank), out / count});
    }
    if (block > 1) chart.x.title = fmt::format("Rank (the mean of {} neighbours each)", block);
    if (inside.points.empty()) return;
    name_run(chart, job, 2);
    chart.curves.push_back(std::move(inside));
    chart.curves.push_back(std::move(outside));
}

HeatMap matrix_map(const Job& job) {
    std::uint64_t ranks = 0;
    for (const PeerPair& pair : job.peers.pairs)
        ranks = std::max({ranks, std::uint64_t{pair.from} + 1, std::uint64_t{pair.to} + 1});
    const std::uint64_t width = std::max<std::uint64_t>((ranks + most_lines - 1) / most_lines, 1);
    const std::uint64_t blocks = (ranks + width - 1) / width;
    HeatMap map{.title = "Bytes from rank to rank",
                .of = run_in_a_line(job),
                .x = width > 1 ? fmt::format("To rank, {} together", width) : "To rank",
                .y = "From rank",
                .first = "0",
                .last = fmt::format("{}", ranks == 0 ? 0 : ranks - 1),
                .values = HeatMap::Of::bytes,
                .by_ratio = true,
                .is_square = true,
                .lines = {}};
    for (std::uint64_t i = 0; i < blocks; ++i)
        map.lines.push_back({fmt::format("{}", i * width), std::vector<double>(blocks, 0.0)});
    for (const PeerPair& pair : job.peers.pairs)
        map.lines[pair.from / width].values[pair.to / width] += static_cast<double>(pair.bytes());
    for (std::size_t i = 1; width == 1 && i < job.ranks.size(); ++i)
        if (job.ranks[i].host != job.ranks[i - 1].host && job.ranks[i].rank < ranks)
            map.borders.push_back(static_cast<double>(job.ranks[i].rank) / static_cast<double>(blocks));
    if (map.borders.size() > most_borders) map.borders.clear();
    return map;
}

HeatMap time_map(const Analysed& all) {
    const Job& job = all.job;
    const std::vector<Lane> lanes = lanes_of(job, {});
    const Axis axis = axis_of(lanes);
    HeatMap map{.title = fmt::format("Time in {}", vocabulary_of(job).library),
                .of = run_in_a_line(job),
                .x = "Time",
                .y = "Rank",
                .first = "0",
                .last = human_time(axis.length()),
                .values = HeatMap::Of::shares,
                .most = 1,
                .lines = {}};
    const std::size_t block = std::max<std::size_t>(1, (lanes.size() + most_lines - 1) / most_lines);
    for (std::size_t begin = 0; begin < lanes.size(); begin += block) {
        const std::vector<Lane> part(
            lanes.begin() + static_cast<std::ptrdiff_t>(begin),
            lanes.begin() + static_cast<std::ptrdiff_t>(std::min(begin + block, lanes.size())));
        HeatMap::Line& line = map.lines.emplace_back(HeatMap::Line{fmt::format("{}", part.front().rank->rank), {}});
        for (const Period& period : periods_of(part, axis, periods_drawn)) line.values.push_back(share_of(period));
    }
    if (axis.length() > 0)
        for (double ns = 0, step = nice_step(axis.length() / 1e9) * 1e9; ns <= axis.length(); ns += step)
            map.ticks.push_back({ns / axis.length(), ns == 0 ? "0" : human_time(ns)});
    for (const VerdictMoment& moment : verdict_moments(all, axis))
        map.marks.push_back({moment.at, fmt::format("[{}] {} {}", id_of(moment.rule), moment.begins ? "from" : "until",
                                                    human_clock(moment.time_ns))});
    return map;
}

void add_time(Chart& chart, const Job& job, const std::string& label) {
    const std::vector<Lane> lanes = lanes_of(job, {});
    if (lanes.empty()) return;
    const Axis axis = axis_of(lanes);
    chart.title = "Time in MPI";
    chart.x = {ChartAxis::Kind::linear, "Time (s)"};
    chart.y = {ChartAxis::Kind::linear, "Share of the time of all ranks"};
    Curve curve{.name = label, .points = {}};
    const Periods periods = periods_of(lanes, axis, periods_drawn);
    const double width = axis.length() / 1e9 / static_cast<double>(periods.size());
    for (std::size_t i = 0; i < periods.size(); ++i)
        if (const double share = share_of(periods[i]); !std::isnan(share))
            curve.points.push_back({(static_cast<double>(i) + 0.5) * width, share});
    if (curve.points.empty()) return;
    name_run(chart, job, 1);
    chart.curves.push_back(std::move(curve));
}

Bars difference_bars(const Side& a, const Side& b, const RunDifference& difference) {
    Bars bars{.title = fmt::format("Where {} and {} differ most", a.name, b.name),
              .of = a.runs.front().run.in_a_line + " against " + b.runs.front().run.in_a_line,
              .axis = "Time per rank (s)",
              .series = {a.name, b.name},
              .groups = {}};
    for (const DifferingCall& call : difference.calls) {
        if (bars.groups.size() == most_groups) break;
        const double size = call.size.b.value_or(call.size.of_a());
        bars.groups.push_back(
            {fmt::format("{}{}{}", call.call, size > 0 ? ", " : "", size > 0 ? human_bytes(size) : std::string()),
             {call.ns.of_a() / 1e9, call.ns.of_b() / 1e9}});
    }
    return bars;
}

}  // namespace mpiprof::report
