// Operands to a picture, the picture to a file or onto the terminal.
#include "report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <variant>

#include "report/compare/charts.h"
#include "report/diff.h"
#include "report/operands.h"
#include "report/plots/picture.h"
#include "report/plots/terminal_chart.h"
#include "report/say.h"
#include "report/scaling.h"
#include "report/sections/section.h"
#include "report/transfers.h"
#include "report/views/terminal.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

using Drawn = std::variant<Chart, HeatMap, Bars>;

// Hands over each job of the operands.
int each_job(const Options& options, const std::function<void(LoadedRun&&)>& take) {
    LoadRemarks remarks;
    Labels labels;
    const auto take_apart = [&](LoadedRun&& loaded) {
        loaded.label = labels.apart(loaded.label);
        take(std::move(loaded));
    };
    const std::vector<std::string> here{"."};
    for (const std::string& word : options.paths.empty() ? here : options.paths) {
        const Operand operand = operand_of(word);
        if (operand.is_pair()) return fail({word, "is a bare time", "only plot scaling takes times"}, usage_error);
        const auto ok = load_runs(options, operand, take_apart, remarks);
        if (!ok) return fail(ok.error(), no_profile);
    }
    if (!options.is_quiet)
        for (const std::string& line : remarks.lines) say(line);
    return fine;
}

ScalingCurve curve_of(const std::string& name) {
    constexpr std::pair<std::string_view, ScalingCurve> known[] = {{"time", ScalingCurve::time},
                                                                   {"performance", ScalingCurve::performance}};
    for (const auto& [word, curve] : known)
        if (name == word) return curve;
    return ScalingCurve::speedup;
}

int draw_scaling(const Options& options, Drawn& drawn) {
    ScalingReport report;
    if (const int code = read_scaling(options, report); code != fine) return code;
    drawn = scaling_chart(report, curve_of(options.compare.plot_shows));
    return fine;
}

// Of messages where every run has a trace, and no function was asked for; else of calls.
int draw_bandwidth(const Options& options, Drawn& drawn) {
    std::vector<Run> runs;
    std::vector<TransferRun> transfers;
    const int code = each_job(options, [&](LoadedRun&& loaded) {
        runs.push_back(run_of(loaded.job, loaded.label));
        if (options.compare.call.empty()) transfers.push_back(transfers_of(loaded.job, *loaded.launch, loaded.label));
    });
    if (code != fine) return code;
    const bool are_traced = std::all_of(transfers.begin(), transfers.end(),
                                        [](const TransferRun& run) { return run.is_traced && !run.classes.empty(); });
    drawn = are_traced && !transfers.empty() ? bandwidth_chart(transfers) : bandwidth_chart(runs, options.compare.call);
    return fine;
}

int draw_runs(const Options& options, Drawn& drawn) {
    std::vector<Run> runs;
    const int code = each_job(options, [&](LoadedRun&& loaded) { runs.push_back(run_of(loaded.job, loaded.label)); });
    if (code != fine) return code;
    drawn = sizes_chart(runs);
    return fine;
}

// One job is a map where there is one of it, several are curves.
int draw_jobs(const Options& options, Drawn& drawn) {
    const PlotKind kind = options.compare.plot;
    const bool is_alone = options.paths.size() < 2 && !options.compare.takes_all_launches;
    if (kind == PlotKind::matrix && !is_alone)
        return fail({"plot matrix", "draws one job", "draw the others into files of their own"}, usage_error);
    Chart chart;
    const int code = each_job(options, [&](LoadedRun&& loaded) {
        if (kind == PlotKind::ranks)
            add_ranks(chart, loaded.job, loaded.label, is_alone);
        else if (kind == PlotKind::matrix)
            drawn = matrix_map(loaded.job);
        else if (is_alone)
            drawn = time_map(loaded.job);
        else
            add_time(chart, loaded.job, loaded.label);
    });
    if (!chart.curves.empty()) drawn = std::move(chart);
    return code;
}

int draw_difference(const Options& options, Drawn& drawn) {
    ReadSides sides;
    if (const int code = read_sides(options, sides); code != fine) return code;
    drawn = difference_bars(sides.a, sides.b, difference_of(sides.a, sides.b, options.compare.time));
    return fine;
}

int draw(const Options& options, Drawn& drawn) {
    switch (options.compare.plot) {
        case PlotKind::scaling:
            return draw_scaling(options, drawn);
        case PlotKind::bandwidth:
            return draw_bandwidth(options, drawn);
        case PlotKind::sizes:
            return draw_runs(options, drawn);
        case PlotKind::ranks:
        case PlotKind::matrix:
        case PlotKind::time:
            return draw_jobs(options, drawn);
        case PlotKind::diff:
            return draw_difference(options, drawn);
    }
    return fine;
}

struct IsEmpty {
    bool operator()(const Chart& chart) const { return chart.curves.empty(); }
    bool operator()(const HeatMap& map) const {
        return std::all_of(map.lines.begin(), map.lines.end(), [](const HeatMap::Line& line) {
            return std::none_of(line.values.begin(), line.values.end(), [](double value) { return value > 0; });
        });
    }
    bool operator()(const Bars& bars) const { return bars.groups.empty(); }
};

std::string why_empty(PlotKind kind) {
    switch (kind) {
        case PlotKind::matrix:
            return "no rank of this job sent bytes to another";
        case PlotKind::time:
        case PlotKind::ranks:
            return "the profiles do not say when or how long ranks were inside MPI";
        case PlotKind::diff:
            return "the two sides made no timed call";
        default:
            return "no message of these runs has a size and a time";
    }
}

// ---- on the terminal ----

Table table_of_map(const HeatMap& map) {
    using L = const HeatMap::Line&;
    const Draw shades = map.by_ratio ? Draw::log_heat : Draw::heat;
    Table table = table_of("map",
                           std::vector<Field<HeatMap::Line>>{
                               {{.id = "line", .title = map.y}, [](L l) { return l.name; }},
                               {{.id = "values",
                                 .title = fmt::format("{}: {} to {}", map.x, map.first, map.last),
                                 .unit = map.by_ratio ? Unit::bytes : Unit::share,
                                 .draw = shades},
                                [](L l) { return l.values; }},
                           },
                           map.lines);
    table.title = map.title;
    return table;
}

Table table_of_bars(const Bars& bars) {
    struct Line {
        std::string group, series;
        double seconds;
    };
    std::vector<Line> lines;
    for (const Bars::Group& group : bars.groups)
        for (std::size_t i = 0; i < group.values.size(); ++i)
            lines.push_back({i == 0 ? group.name : "", bars.series[i], group.values[i]});
    using L = const Line&;
    Table table = table_of("bars",
                           std::vector<Field<Line>>{
                               {{.id = "group", .title = "CALL"}, [](L l) { return l.group; }},
                               {{.id = "series", .title = "RUN"}, [](L l) { return l.series; }},
                               {{.id = "time_ns", .title = "TIME", .unit = Unit::time, .same_unit = true},
                                [](L l) { return l.seconds * 1e9; }},
                               {{.id = "bar", .title = {}, .unit = Unit::time, .draw = Draw::bar, .only_screen = true},
                                [](L l) { return l.seconds; }},
                           },
                           lines);
    table.title = bars.title;
    return table;
}

struct OnTerminal {
    Screen screen;
    std::string operator()(const Chart& chart) const { return text_of(chart, screen.width, screen.has_utf8); }
    std::string operator()(const HeatMap& map) const { return shown(table_of_map(map)); }
    std::string operator()(const Bars& bars) const { return shown(table_of_bars(bars)); }

  private:
    std::string shown(Table table) const {
        const std::vector<Table> tables{std::move(table)};
        return find_view("text")->show({"plot", tables}, screen);
    }
};

}  // namespace

int plot(const Options& options) {
    const bool is_file = !options.output.empty();
    PictureFormat format = PictureFormat::svg;
    if (is_file) {
        const auto known = picture_format(options.output);
        if (!known) return fail(known.error(), usage_error);
        format = *known;
    }
    Drawn drawn;
    if (const int code = draw(options, drawn); code != fine) return code;
    if (std::visit(IsEmpty{}, drawn)) return fail({"plot", why_empty(options.compare.plot), ""}, no_profile);
    std::string text;
    if (is_file) {
        auto bytes = picture_of(std::visit([](const auto& one) { return svg_of(one); }, drawn), format);
        if (!bytes) return fail(bytes.error(), check_failed);
        text = std::move(*bytes);
    } else {
        text = std::visit(OnTerminal{screen_for(stdout, options.screen)}, drawn);
    }
    auto output = Output::open(options.output);
    if (!output) return fail(output.error(), check_failed);
    output->write(text);
    return finish(*output);
}

}  // namespace mpiprof::report
