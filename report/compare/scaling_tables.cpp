// The tables of scaling, and its sentence.
#include "report/compare/scaling_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report/model/visible.h"
#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

struct Line {
    const ScalingSeries* series;
    const ScalingPoint* point;
    bool is_worth;

    bool is_repeated() const { return point->repeats > 1; }
};

std::vector<Line> lines_of(const ScalingSeries& series) {
    std::vector<Line> lines;
    for (std::size_t i = 0; i < series.scaling.points.size(); ++i)
        lines.push_back({&series, &series.scaling.points[i], i <= series.scaling.last_worth});
    return lines;
}

bool has_repeats(const Scaling& scaling) {
    return std::ranges::any_of(scaling.points, [](const ScalingPoint& point) { return point.repeats > 1; });
}

std::vector<Field<Line>> fields_of(const ScalingReport& report, bool is_weak, bool has_repeats, int decimals) {
    using L = const Line&;
    return {
        {in_data("series"), [](L l) { return l.series->scaling.name; }},
        {{.id = "n", .title = "N", .unit = Unit::number, .decimals = 0}, [](L l) { return l.point->n; }},
        {in_data("unit"), [unit = report.unit.one](L) { return std::string(unit); }},
        {{.id = "seconds", .title = "TIME (s)", .unit = Unit::number, .decimals = decimals, .heading = "Time (s)"},
         [](L l) { return l.point->seconds; }},
        {{.id = "repeats", .title = "RUNS", .unit = Unit::count, .drop = 4, .only_data = !has_repeats},
         [](L l) { return std::uint64_t{l.point->repeats}; }},
        {{.id = "spread_share", .title = "SPREAD", .unit = Unit::share, .only_data = !has_repeats, .heading = "Spread"},
         [](L l) { return l.is_repeated() ? Value((l.point->most - l.point->least) / l.point->seconds) : Value(); }},
        {in_data("least_seconds", Unit::number), [](L l) { return l.point->least; }},
        {in_data("most_seconds", Unit::number), [](L l) { return l.point->most; }},
        {{.id = "items_per_second", .title = "ITEMS/S", .unit = Unit::count},
         [](L l) { return known(l.point->items_per_second); }},
        {{.id = "speedup",
          .title = is_weak ? "SCALED SPEEDUP" : "SPEEDUP",
          .unit = Unit::number,
          .decimals = 2,
          .heading = is_weak ? "Scaled speedup" : "Speedup"},
         [](L l) { return l.point->speedup; }},
        {{.id = "efficiency",
          .title = "EFFICIENCY",
          .unit = Unit::share,
          .drop = is_weak ? 0 : 1,
          .heading = "Efficiency"},
         [](L l) { return l.point->efficiency; }},
        {{.id = "relative_su", .title = "RELATIVE SU", .unit = Unit::number, .decimals = 2, .heading = "Relative SU"},
         [](L l) { return l.point->relative_su; }},
        {{.id = "karp_flatt",
          .title = "KARP-FLATT",
          .unit = Unit::number,
          .drop = 3,
          .only_data = is_weak,
          .decimals = 3},
         [](L l) { return known(l.point->karp_flatt); }},
        {{.id = "gain", .title = "GAIN", .unit = Unit::number, .drop = 1, .decimals = 2},
         [](L l) { return known(l.point->gain); }},
        {bar(5, Draw::full_bar),
         [](L l) { return l.point->gain ? Value(std::clamp(*l.point->gain, 0.0, 1.0)) : Value(); }},
        {in_data("is_worth_it"), [](L l) { return Yes{l.is_worth}; }},
    };
}

std::string sizes_text(double n, const UnitWords& unit) {
    return fmt::format("{:.0f} {}", n, n == 1 ? unit.one : unit.many);
}

std::string ordinal(double n) {
    const auto whole = static_cast<std::uint64_t>(n);
    const std::uint64_t tens = whole % 100, ones = whole % 10;
    const char* const end = tens >= 11 && tens <= 13 ? "th"
                            : ones == 1              ? "st"
                            : ones == 2              ? "nd"
                            : ones == 3              ? "rd"
                                                     : "th";
    return fmt::format("{}{}", whole, end);
}

// "raises the SU from 1.82 to 2.09"; what is printed alike is not called a change.
std::string cost_text(double from, double to) {
    const std::string before = fmt::format("{:.2f}", from), after = fmt::format("{:.2f}", to);
    if (before == after) return fmt::format("leaves the SU at {}", after);
    return fmt::format("{} the SU from {} to {}", to > from ? "raises" : "lowers", before, after);
}

std::string gain_text(double gain) {
    return gain < 0 ? fmt::format("loses {:.2f} of one", -gain) : fmt::format("adds {:.2f} of one", gain);
}

std::string plateau_text(const Scaling& scaling, const UnitWords& unit) {
    const ScalingPoint& last = scaling.points[scaling.last_worth];
    const ScalingPoint& next = scaling.points[scaling.last_worth + 1];
    const std::string cost = cost_text(last.relative_su, next.relative_su);
    const double more = next.n - last.n;
    if (more == 1)
        return fmt::format("Scaling levels off at {}: the {} {} and {}.", sizes_text(last.n, unit), ordinal(next.n),
                           gain_text(*next.gain), cost);
    return fmt::format(
        "{} are not worth it: beyond {:.0f}, each of {:.0f} more {}, which {}. Nothing was measured between {:.0f} and {:.0f}.",
        sizes_text(next.n, unit), last.n, more, gain_text(*next.gain), cost, last.n, next.n);
}

// What all figures of a series are relative to, where that is no single unit.
std::vector<Note> base_notes(const Scaling& scaling, const UnitWords& unit) {
    if (scaling.smallest().n == 1) return {};
    return {Note(fmt::format("relative to {}, the smallest size measured, which is taken to scale perfectly",
                             sizes_text(scaling.smallest().n, unit)))};
}

std::vector<Note> notes_of(const ScalingReport& report, const Scaling& scaling) {
    const bool is_relative = scaling.smallest().n != 1;
    std::vector<Note> notes{fmt::format("TIME: {}", report.time)};
    for (Note& note : base_notes(scaling, report.unit)) notes.push_back(std::move(note));
    if (has_repeats(scaling)) notes.push_back("repeats: the median, and the spread from shortest to longest");
    notes.push_back(Note::on("relative_su", scaling.is_weak ? report.su + ", for the same work" : report.su));
    if (!scaling.is_weak)
        notes.push_back(Note::on(
            "karp_flatt",
            "experimentally determined serial fraction (Karp-Flatt); if it grows with N, overheads grow with N"));
    notes.push_back(Note::on(
        "gain", fmt::format("marginal speedup per added {0}, in {1}", report.unit.one,
                            is_relative ? fmt::format("units of what each of the {:.0f} does", scaling.smallest().n)
                                        : fmt::format("units of what a {} does alone", report.unit.one))));
    return notes;
}

std::string title_of(const ScalingReport& report, const Scaling& scaling) {
    const std::string what = fmt::format("{} (N: {})", scaling.is_weak ? "WEAK SCALING" : "SCALING", report.unit.many);
    return scaling.name.empty() ? what : fmt::format("{}: {}", scaling.name, what);
}

Table advice_table(const Scaling& scaling, const UnitWords& unit) {
    const std::string whose = scaling.name.empty() ? "" : scaling.name + ": ";
    return picture_table(
        "advice",
        Remarks{{{.is_serious = scaling.has_plateau(), .text = whose + advice_of(scaling, unit), .rule = "plateau"}}});
}

// ---- several series ----

struct BesideLine {
    double n;
    std::vector<const ScalingPoint*> points;  // one for each series; null: not measured
};

std::vector<BesideLine> beside_lines(const ScalingReport& report) {
    std::map<double, BesideLine> lines;
    for (std::size_t i = 0; i < report.series.size(); ++i)
        for (const ScalingPoint& point : report.series[i].scaling.points) {
            BesideLine& line = lines.try_emplace(point.n, BesideLine{point.n, {}}).first->second;
            line.points.resize(report.series.size());
            line.points[i] = &point;
        }
    std::vector<BesideLine> result;
    for (auto& [n, line] : lines) result.push_back(std::move(line));
    return result;
}

// Series beside each other: times, speedups, and how many times as fast as the first each other one is at that N.
Table beside_table(const ScalingReport& report) {
    using L = const BesideLine&;
    std::vector<Field<BesideLine>> fields{
        {{.id = "n", .title = "N", .unit = Unit::number, .decimals = 0}, [](L l) { return l.n; }}};
    const auto add = [&](std::string id, std::string title, int decimals, int drop, auto value) {
        fields.push_back(
            {{.id = std::move(id), .title = std::move(title), .unit = Unit::number, .drop = drop, .decimals = decimals},
             value});
    };
    const std::string& first = report.series.front().scaling.name;
    for (std::size_t i = 0; i < report.series.size(); ++i) {
        const std::string& name = report.series[i].scaling.name;
        add(name + "_seconds", name + " (s)", report.series[i].decimals, 0,
            [i](L l) { return l.points[i] ? Value(l.points[i]->seconds) : Value(); });
    }
    for (std::size_t i = 0; i < report.series.size(); ++i) {
        const std::string& name = report.series[i].scaling.name;
        add(name + "_speedup", name + " SPEEDUP", 2, 2,
            [i](L l) { return l.points[i] ? Value(l.points[i]->speedup) : Value(); });
    }
    for (std::size_t i = 1; i < report.series.size(); ++i) {
        const std::string& name = report.series[i].scaling.name;
        add(name + "_times_as_fast", fmt::format("{} / {}", first, name), 2, 0, [i](L l) {
            return l.points[0] && l.points[i] ? Value(l.points[0]->seconds / l.points[i]->seconds) : Value();
        });
    }
    Table table = table_of("beside", fields, beside_lines(report));
    table.title = fmt::format("{} SERIES (N: {})", report.series.size(), report.unit.many);
    const auto& series = report.series;
    const bool have_one_base = std::ranges::all_of(series, [&](const ScalingSeries& one) {
        return one.scaling.smallest().n == series.front().scaling.smallest().n;
    });
    if (!have_one_base)
        table.notes.push_back(Note::on(first + "_speedup", "each series over its own smallest N; these differ"));
    table.notes.push_back(Note::on(
        series[1].scaling.name + "_times_as_fast",
        fmt::format("the time of {} over that of {}", first, series.size() == 2 ? series[1].scaling.name : "another")));
    return table;
}

}  // namespace

std::string advice_of(const Scaling& scaling, const UnitWords& unit) {
    if (scaling.points.size() < 2)
        return fmt::format("Only {} measured: nothing can be said about other sizes.",
                           sizes_text(scaling.smallest().n, unit) + (scaling.smallest().n == 1 ? " was" : " were"));
    std::string text =
        scaling.has_plateau()
            ? plateau_text(scaling, unit)
            : fmt::format("Still scaling at {}, the largest size measured: the last one still {}.",
                          sizes_text(scaling.points.back().n, unit), gain_text(*scaling.points.back().gain));
    if (scaling.is_close()) text += " The repeats vary so much that the limit may be elsewhere.";
    return text;
}

namespace {

// Of several series one table of each kind, whose first column says whose a row is.
void add_of_series(std::vector<Table>& tables, Table&& table, const std::string& series) {
    const auto same = std::find_if(tables.begin(), tables.end(), [&](const Table& t) { return t.id == table.id; });
    if (const auto* remarks = std::get_if<Remarks>(&table.picture)) {
        if (same == tables.end()) return tables.push_back(std::move(table));
        auto& all = std::get<Remarks>(same->picture).remarks;
        all.insert(all.end(), remarks->remarks.begin(), remarks->remarks.end());
        return;
    }
    table.columns.insert(table.columns.begin(), Column{.id = "series", .title = "SERIES"});
    for (auto& row : table.rows) row.insert(row.begin(), series);
    if (same == tables.end()) return tables.push_back(std::move(table));
    // Sizes that only some series have are columns of their own.
    std::vector<std::size_t> at;
    for (const Column& column : table.columns) {
        const auto known = std::find_if(same->columns.begin(), same->columns.end(),
                                        [&](const Column& c) { return c.id == column.id; });
        at.push_back(static_cast<std::size_t>(known - same->columns.begin()));
        if (known != same->columns.end()) continue;
        same->columns.push_back(column);
        for (auto& row : same->rows) row.emplace_back();
    }
    for (const auto& row : table.rows) {
        auto& to = same->rows.emplace_back(same->columns.size());
        for (std::size_t i = 0; i < row.size(); ++i) to[at[i]] = row[i];
    }
}

struct RunLine {
    std::string series;
    const SizedRun* sized;
};
std::string labels_text(const Run& run) {
    std::string text;
    for (const auto& [key, value] : run.said) text += (text.empty() ? "" : ",") + pair_field(key, value);
    return text;
}

// Which runs the figures of each N are made of: for data, where nobody looks for them in a sentence.
Table runs_table(const ScalingReport& report) {
    using L = const RunLine&;
    const std::vector<Field<RunLine>> fields{
        {{.id = "series", .title = "SERIES"}, [](L l) { return l.series; }},
        {{.id = "n", .title = "N", .unit = Unit::number, .decimals = 0}, [](L l) { return l.sized->n; }},
        {{.id = "run", .title = "RUN"}, [](L l) { return l.sized->run.label; }},
        {{.id = "program", .title = "PROGRAM"}, [](L l) { return l.sized->run.program; }},
        {{.id = "labels", .title = "LABELS"}, [](L l) { return labels_text(l.sized->run); }},
    };
    std::vector<RunLine> lines;
    for (const ScalingSeries& series : report.series)
        for (const SizedRun& sized : series.runs) lines.push_back({series.scaling.name, &sized});
    return table_of("runs", fields, lines);
}

Table caution_table(const std::vector<std::string>& cautions) {
    Remarks remarks;
    for (const std::string& text : cautions) remarks.remarks.push_back({.text = text, .rule = "caution"});
    return picture_table("cautions", std::move(remarks));
}

}  // namespace

std::vector<Table> scaling_tables(const ScalingReport& report) {
    std::vector<Table> tables;
    const bool is_data_of_several = !report.is_for_screen && report.series.size() > 1;
    if (report.series.size() > 1 && report.is_for_screen) tables.push_back(beside_table(report));
    if (!report.is_for_screen) {
        std::vector<Line> all;
        for (const ScalingSeries& series : report.series)
            for (const Line& line : lines_of(series)) all.push_back(line);
        tables.push_back(table_of("scaling", fields_of(report, report.series.front().scaling.is_weak, true, 0), all));
    }
    for (const ScalingSeries& series : report.series) {
        const Scaling& scaling = series.scaling;
        if (report.is_for_screen) {
            Table table = table_of("scaling", fields_of(report, scaling.is_weak, has_repeats(scaling), series.decimals),
                                   lines_of(series));
            table.title = title_of(report, scaling);
            // What the columns mean is the same below each series, but for what they are relative to.
            table.notes =
                &series == &report.series.front() ? notes_of(report, scaling) : base_notes(scaling, report.unit);
            tables.push_back(std::move(table));
        }
        std::vector<Table> of_one = scaling_call_tables(series);
        of_one.insert(of_one.begin(), advice_table(scaling, report.unit));
        for (Table& table : of_one) {
            if (is_data_of_several)
                add_of_series(tables, std::move(table), scaling.name);
            else
                tables.push_back(std::move(table));
        }
    }
    const bool has_runs =
        std::ranges::any_of(report.series, [](const ScalingSeries& series) { return !series.runs.empty(); });
    if (!report.is_for_screen && has_runs) tables.push_back(runs_table(report));
    if (!report.cautions.empty()) tables.push_back(caution_table(report.cautions));
    return tables;
}

}  // namespace mpiprof::report
