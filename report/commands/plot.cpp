// `mpiprof-report plot KIND`: operands to a picture, the picture to a file or onto the terminal.
#include "report/commands/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <variant>

#include "report/commands/ddp.h"
#include "report/commands/diff.h"
#include "report/commands/operands.h"
#include "report/commands/present.h"
#include "report/commands/say.h"
#include "report/commands/scaling.h"
#include "report/commands/transfers.h"
#include "report/compare/charts.h"
#include "report/plots/picture.h"
#include "report/plots/terminal_chart.h"
#include "report/sections/section.h"
#include "report/views/terminal.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

// Time of ranks: bars in a file, curves on a terminal.
struct OfRanks {
    Strip strip;
    Chart chart;
};
std::string svg_of(const OfRanks& ranks) { return svg_of(ranks.strip); }

using Drawn = std::variant<Chart, HeatMap, Bars, Histograms, OfRanks>;

// Hands over each job of the operands.
int each_job(const Options& options, const std::function<void(LoadedRun&&)>& take) {
    LoadRemarks remarks;
    Labels labels;
    const auto take_apart = [&](LoadedRun&& loaded) {
        loaded.label = labels.apart(loaded.label);
        take(std::move(loaded));
    };
    const int code = load_each(options, words_of(options), "only plot scaling takes times", take_apart, remarks);
    if (code == fine) say_all(remarks.lines, options.is_quiet);
    return code;
}

ScalingCurve curve_of(const std::string& name) {
    constexpr std::pair<std::string_view, ScalingCurve> known[] = {{"time", ScalingCurve::time},
                                                                   {"performance", ScalingCurve::performance}};
    for (const auto& [word, curve] : known)
        if (name == word) return curve;
    return ScalingCurve::speedup;
}

struct IsEmpty {
    bool operator()(const Chart& chart) const { return chart.curves.empty(); }
    bool operator()(const HeatMap& map) const {
        return std::ranges::all_of(map.lines, [](const HeatMap::Line& line) {
            return std::ranges::none_of(line.values, [](double value) { return value > 0; });
        });
    }
    bool operator()(const Bars& bars) const { return bars.groups.empty(); }
    bool operator()(const Histograms& histograms) const { return histograms.lines.empty(); }
    bool operator()(const OfRanks& ranks) const { return ranks.strip.ranks.empty(); }
};

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
    table.notes.push_back(map.of);
    for (const HeatMap::Place& mark : map.marks) table.notes.push_back(Note::mark("values", mark.at, mark.text));
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
    table.notes.push_back(bars.of);
    return table;
}

Table table_of_histograms(const Histograms& of) {
    using L = const Histograms::Line&;
    std::string range = of.bins.empty() ? "" : of.bins.front();
    if (of.bins.size() > 1) range += " ... " + of.bins.back();
    Table table =
        table_of("histograms",
                 std::vector<Field<Histograms::Line>>{
                     {{.id = "line", .title = "CALL"}, [](L l) { return l.name; }},
                     {{.id = "most", .title = "AT MOST", .unit = Unit::count},
                      [](L l) { return *std::ranges::max_element(l.counts); }},
                     {{.id = "counts", .title = fmt::format("{} {}", of.axis, range), .draw = Draw::histogram},
                      [](L l) { return l.counts; }},
                 },
                 of.lines);
    table.title = of.title;
    table.notes.push_back(of.of);
    return table;
}

struct OnTerminal {
    Screen screen;
    std::string operator()(const Chart& chart) const { return text_of(chart, screen.width, screen.has_utf8); }
    std::string operator()(const HeatMap& map) const { return shown(table_of_map(map)); }
    std::string operator()(const Bars& bars) const { return shown(table_of_bars(bars)); }
    std::string operator()(const Histograms& histograms) const { return shown(table_of_histograms(histograms)); }
    std::string operator()(const OfRanks& ranks) const { return (*this)(ranks.chart); }

  private:
    std::string shown(Table table) const {
        const std::vector<Table> tables{std::move(table)};
        return find_view("text")->show({"plot", tables}, screen);
    }
};

class Plot : public Command {
  public:
    void take(Arguments& arguments) override {
        arguments.footer(
            "mpiprof-report plot KIND [RUN...] [-o F.svg|F.png|F.pdf], KIND one of scaling, bandwidth, sizes, ranks, matrix,\n"
            "time, diff; without -o it is drawn on the terminal. mpiprof-report plot KIND --help has the options of each.");
        for (const Kind& kind : kinds) {
            Arguments of_kind = arguments.kind(kind.name, kind.about, [this, &kind] { kind_ = &kind; });
            of_kind.compared(scaling_.time);
            of_kind.text("-o,--output", output_, "The picture: F.svg, F.png or F.pdf (default: drawn on the terminal)",
                         "FILE");
            if (kind.take_more) (this->*kind.take_more)(of_kind);
        }
    }

    int run(const Options& options) override {
        if (!options.format.empty() && !view_of(options).is_for_screen)
            return fail(
                {"plot", "draws and has no --format", "docs/plots.md names the command that has each plot's numbers"},
                usage_error);
        PictureFormat format = PictureFormat::svg;
        if (!output_.empty()) {
            const auto known = picture_format(output_);
            if (!known) return fail(known.error(), usage_error);
            format = *known;
        }
        Drawn drawn;
        if (const int code = (this->*kind_->draw)(options, drawn); code != fine) return code;
        if (std::visit(IsEmpty{}, drawn)) return fail({"plot", kind_->why_empty, ""}, no_profile);
        std::string text;
        if (output_.empty()) {
            text = std::visit(OnTerminal{screen_for(stdout, options.screen)}, drawn);
        } else {
            auto bytes = picture_of(std::visit([](const auto& one) { return svg_of(one); }, drawn), format);
            if (!bytes) return fail(bytes.error(), check_failed);
            text = std::move(*bytes);
        }
        auto output = Output::open(output_);
        if (!output) return fail(output.error(), check_failed);
        output->write(text);
        return finish(*output);
    }

  private:
    struct Kind {
        const char *name, *about;
        int (Plot::*draw)(const Options& options, Drawn& drawn) const;
        const char* why_empty;
        void (Plot::*take_more)(Arguments& arguments) = nullptr;
    };
    static const Kind kinds[7];

    void take_scaling(Arguments& arguments) {
        scaling_.take(arguments);
        arguments.choice("--show", shows_,
                         "speedup (default), time, or performance: how many times as fast as the first series at its "
                         "smallest N",
                         {"speedup", "time", "performance"}, "WHAT");
    }
    void take_call(Arguments& arguments) {
        arguments.text("--call", call_, "Of this function (default: the one that moved most bytes)", "NAME");
    }
    void take_against(Arguments& arguments) { arguments.texts("--against", against_, "The runs of side B", "RUN..."); }

    int draw_scaling(const Options& options, Drawn& drawn) const {
        ScalingReport report;
        if (const int code = read_scaling(options, scaling_, report); code != fine) return code;
        drawn = scaling_chart(report, curve_of(shows_));
        return fine;
    }

    // Of messages where every run has a trace, and no function was asked for; else of calls.
    int draw_bandwidth(const Options& options, Drawn& drawn) const {
        std::vector<Run> runs;
        std::vector<TransferRun> transfers;
        const int code = each_job(options, [&](LoadedRun&& loaded) {
            runs.push_back(run_of(loaded.job, loaded.label));
            if (call_.empty()) transfers.push_back(transfers_of(loaded.job, *loaded.launch, loaded.label));
        });
        if (code != fine) return code;
        const bool are_traced = std::ranges::all_of(
            transfers, [](const TransferRun& run) { return run.is_traced && !run.classes.empty(); });
        drawn = are_traced && !transfers.empty() ? bandwidth_chart(transfers) : bandwidth_chart(runs, call_);
        return fine;
    }

    int draw_sizes(const Options& options, Drawn& drawn) const {
        std::vector<Run> runs;
        const int code =
            each_job(options, [&](LoadedRun&& loaded) { runs.push_back(run_of(loaded.job, loaded.label)); });
        if (code != fine) return code;
        if (runs.size() == 1)
            drawn = sizes_histograms(runs.front());
        else
            drawn = sizes_chart(runs);
        return code;
    }

    int draw_ranks(const Options& options, Drawn& drawn) const {
        Chart chart;
        if (!are_several_runs(options))
            return each_job(options, [&](LoadedRun&& loaded) {
                add_ranks(chart, loaded.job, "");
                drawn = OfRanks{ranks_strip(loaded.job), std::move(chart)};
            });
        const int code =
            each_job(options, [&](LoadedRun&& loaded) { add_ranks(chart, loaded.job, loaded.label + ": "); });
        drawn = std::move(chart);
        return code;
    }

    int draw_matrix(const Options& options, Drawn& drawn) const {
        if (are_several_runs(options))
            return fail({"plot matrix", "draws one job", "draw the others into files of their own"}, usage_error);
        return each_job(options, [&](LoadedRun&& loaded) { drawn = matrix_map(loaded.job); });
    }

    // One job is a map, several are curves.
    int draw_time(const Options& options, Drawn& drawn) const {
        if (!are_several_runs(options))
            return each_job(options, [&](LoadedRun&& loaded) { drawn = time_map(loaded.job); });
        Chart chart;
        const int code = each_job(options, [&](LoadedRun&& loaded) { add_time(chart, loaded.job, loaded.label); });
        drawn = std::move(chart);
        return code;
    }

    int draw_difference(const Options& options, Drawn& drawn) const {
        const auto words = sides_of(options, against_);
        if (!words) return fail(words.error(), usage_error);
        ReadSides sides;
        if (const int code = read_sides(options, *words, sides); code != fine) return code;
        drawn = difference_bars(sides.a, sides.b, difference_of(sides.a, sides.b, scaling_.time));
        return fine;
    }

    const Kind* kind_ = kinds;
    std::string output_;  // a file; empty: the terminal
    ScalingOptions scaling_;
    std::string shows_ = "speedup";
    std::string call_;
    std::vector<std::string> against_;
};

constexpr const char* no_message = "no message of these runs has a size and a time";
constexpr const char* no_times = "the profiles do not say when or how long ranks were inside MPI";
const Plot::Kind Plot::kinds[7] = {
    {"scaling", "speedup over N, and perfect scaling", &Plot::draw_scaling, no_message, &Plot::take_scaling},
    {"bandwidth", "MB/s over the size of messages (MPIPROF_TRACE=on) or calls", &Plot::draw_bandwidth, no_message,
     &Plot::take_call},
    {"sizes", "how many calls have which size: of one job by function, of several as curves", &Plot::draw_sizes,
     no_message},
    {"ranks", "time inside MPI and outside, rank by rank", &Plot::draw_ranks, no_times},
    {"matrix", "bytes from each rank to each other", &Plot::draw_matrix, "no rank of this job sent bytes to another"},
    {"time", "when ranks were inside MPI: a map of one job, curves of several", &Plot::draw_time, no_times},
    {"diff", "the calls of which two runs differ most", &Plot::draw_difference, "the two sides made no timed call",
     &Plot::take_against},
};

}  // namespace

std::unique_ptr<Command> make_plot() { return std::make_unique<Plot>(); }

}  // namespace mpiprof::report
