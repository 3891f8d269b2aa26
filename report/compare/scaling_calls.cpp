// Times of a rank by N: of the parts of a run, what follows from them, and of single calls, held against perfect
// scaling.
#include "report/compare/scaling_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "report/sections/budget_words.h"
#include "report/sections/section.h"
#include "report/statistics/statistics.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t calls_shown = 10;

using RunsByN = std::map<double, std::vector<const Run*>>;

RunsByN runs_by_n(const ScalingSeries& series) {
    RunsByN runs;
    for (const SizedRun& sized : series.runs) runs[sized.n].push_back(&sized.run);
    return runs;
}

const Vocabulary& words_of(const RunsByN& by_n) {
    const Vocabulary* words = by_n.begin()->second.front()->words;
    for (const auto& [n, runs] : by_n)
        for (const Run* run : runs) words = &vocabulary_of_both(*words, *run->words);
    return *words;
}

// The median over the repeats.
double middle(const std::vector<const Run*>& runs, const std::function<double(const Run&)>& value) {
    std::vector<double> values;
    for (const Run* run : runs) values.push_back(value(*run));
    return median_of(std::move(values));
}

Table budget_table(const RunsByN& by_n) {
    struct Line {
        double n;
        const std::vector<const Run*>* runs;
    };
    using L = const Line&;
    std::vector<Line> lines;
    for (const auto& [n, runs] : by_n) lines.push_back({n, &runs});
    std::vector<Field<Line>> fields{
        {{.id = "n", .title = "N", .unit = Unit::number, .decimals = 0}, [](L l) { return l.n; }}};
    for (const Part part : all_parts()) {
        const auto ns = [part](L l) { return middle(*l.runs, [&](const Run& run) { return run.budget.of(part); }); };
        if (std::ranges::none_of(lines, [&](L l) { return ns(l) > 0; })) continue;
        fields.push_back({{.id = std::string(id_of(part)) + "_ns",
                           .title = std::string(column_of(part)),
                           .unit = Unit::time,
                           .drop = drop_of(part),
                           .same_unit = true},
                          [ns](L l) {
                              const double value = ns(l);
                              return value > 0 ? Value(value) : Value();
                          }});
    }
    Table table = table_of("budget", fields, lines);
    table.title = "TIME PER RANK";
    table.notes.push_back("mean of the ranks; the parts: docs/budget.md");
    return table;
}

// ---- POP's efficiencies ----

struct EfficiencyLine {
    double n = 1;
    Efficiency of{};
    bool is_known = false;   // of one rank there are none
    double computation = 1;  // of the smallest N, over that at this one; of all ranks, with --weak of a rank
};

// The median over the repeats; empty: some do not know it.
std::optional<double> middle_known(const std::vector<const Run*>& runs,
                                   const std::function<std::optional<double>(const Efficiency&)>& value) {
    std::vector<double> values;
    for (const Run* run : runs) {
        const auto known = run->figures.efficiency ? value(*run->figures.efficiency) : std::nullopt;
        if (!known) return std::nullopt;
        values.push_back(*known);
    }
    return median_of(std::move(values));
}

Efficiency efficiency_of(const std::vector<const Run*>& runs) {
    using E = const Efficiency&;
    const auto of = [&](auto value) { return middle_known(runs, value); };
    return {.load_balance = of([](E e) { return std::optional(e.load_balance); }).value_or(0),
            .communication = of([](E e) { return std::optional(e.communication); }).value_or(0),
            .parallel = of([](E e) { return std::optional(e.parallel); }).value_or(0),
            .serialisation = of([](E e) { return e.serialisation; }),
            .transfer = of([](E e) { return e.transfer; })};
}

std::vector<EfficiencyLine> efficiency_lines(const RunsByN& by_n, bool is_weak) {
    const auto computed = [&](const std::vector<const Run*>& runs) {
        return middle(runs, [&](const Run& run) {
            return run.figures.outside.mean_ns * (is_weak ? 1 : static_cast<double>(run.figures.ranks));
        });
    };
    const double first = computed(by_n.begin()->second);
    std::vector<EfficiencyLine> lines;
    for (const auto& [n, runs] : by_n) {
        const double here = computed(runs);
        EfficiencyLine line{.n = n, .of = efficiency_of(runs), .computation = here > 0 ? first / here : 0};
        line.is_known = line.of.parallel > 0;
        lines.push_back(line);
    }
    return lines;
}

Table efficiency_table(const std::vector<EfficiencyLine>& lines, const Vocabulary& words, bool is_weak) {
    using L = const EfficiencyLine&;
    const auto share = [](std::string id, std::string title, auto value) {
        return Field<EfficiencyLine>{
            {.id = std::move(id), .title = std::move(title), .unit = Unit::share},
            [value](L l) { return l.is_known ? known(std::optional<double>(value(l))) : Value(); }};
    };
    const std::vector<Field<EfficiencyLine>> fields{
        {{.id = "n", .title = "N", .unit = Unit::number, .decimals = 0}, [](L l) { return l.n; }},
        share("load_balance", "BALANCE", [](L l) { return l.of.load_balance; }),
        share("communication", "COMM.", [](L l) { return l.of.communication; }),
        share("serialisation", "SERIAL.", [](L l) { return l.of.serialisation; }),
        share("transfer", "TRANSFER", [](L l) { return l.of.transfer; }),
        share("parallel", "PARALLEL", [](L l) { return l.of.parallel; }),
        {{.id = "computation", .title = "COMPUTATION", .unit = Unit::share},
         [](L l) { return l.computation > 0 ? Value(l.computation) : Value(); }},
        share("global", "GLOBAL", [](L l) { return l.of.parallel * l.computation; }),
    };
    Table table = table_of("efficiencies", fields, lines);
    table.title = "EFFICIENCY (POP)";
    table.notes.push_back({{"BALANCE x COMM.", "parallel"}, {"SERIAL. x TRANSFER", "communication"}});
    table.notes.push_back(
        Note::on("computation", fmt::format("time outside {} of {}, at the smallest N over that at this one",
                                            words.library, is_weak ? "a rank" : "all ranks together")));
    table.notes.push_back(Note::on("global", "PARALLEL x COMPUTATION; all of it: docs/metrics.md"));
    return table;
}

// ---- what stops scaling ----

struct CallLine {
    std::string name;
    std::vector<double> ns;  // of a rank, by N
    double lost_ns = 0;      // at the largest N, above perfect scaling
};

CallLine line_of(std::string name, const RunsByN& by_n, bool is_weak, const std::function<double(const Run&)>& ns) {
    CallLine line{.name = std::move(name), .ns = {}};
    for (const auto& [n, runs] : by_n) line.ns.push_back(middle(runs, ns));
    const double p = is_weak ? 1 : by_n.rbegin()->first / by_n.begin()->first;
    line.lost_ns = line.ns.back() - line.ns.front() / p;
    return line;
}

std::vector<CallLine> call_lines(const RunsByN& by_n, bool is_weak) {
    std::map<std::string, bool> names;
    for (const auto& [n, runs] : by_n)
        for (const Run* run : runs)
            for (const RunCall& call : run->calls) names[call.call] |= call.is_timed;
    std::vector<CallLine> lines;
    for (const auto& [name, is_timed] : names) {
        if (!is_timed) continue;
        lines.push_back(line_of(name, by_n, is_weak, [&name = name](const Run& run) {
            std::uint64_t ns = 0;
            for (const RunCall& call : run.calls)
                if (call.call == name) ns += call.time_ns;
            return run.per_rank_s(ns) * 1e9;
        }));
    }
    lines.push_back(line_of(fmt::format("(outside {})", words_of(by_n).library), by_n, is_weak,
                            [](const Run& run) { return run.figures.outside.mean_ns; }));
    std::erase_if(lines, [](const CallLine& line) { return line.lost_ns <= 0; });
    std::stable_sort(lines.begin(), lines.end(),
                     [](const CallLine& a, const CallLine& b) { return a.lost_ns > b.lost_ns; });
    if (lines.size() > calls_shown) lines.resize(calls_shown);
    return lines;
}

// What does not become shorter as it should: the time of a rank in each call at each N.
Table calls_table(const RunsByN& by_n, bool is_weak) {
    using L = const CallLine&;
    std::vector<Field<CallLine>> fields{{{.id = "call", .title = "CALL"}, [](L l) { return l.name; }}};
    std::size_t i = 0;
    for (const auto& [n, runs] : by_n) {
        const bool is_end = i == 0 || i + 1 == by_n.size();
        fields.push_back({{.id = fmt::format("n{:.0f}_ns", n),
                           .title = fmt::format("N={:.0f}", n),
                           .unit = Unit::time,
                           .drop = is_end ? 0 : static_cast<int>(by_n.size() - i),
                           .same_unit = true},
                          [i](L l) { return l.ns[i]; }});
        ++i;
    }
    fields.push_back(
        {{.id = "lost_ns", .title = "LOST", .unit = Unit::time, .same_unit = true}, [](L l) { return l.lost_ns; }});
    Table table = table_of("stops_scaling", fields, call_lines(by_n, is_weak));
    table.title = "SCALING LOSS BY CALL";
    table.notes.push_back(Note::on("lost_ns", fmt::format("at N={:.0f}, above {}", by_n.rbegin()->first,
                                                          is_weak ? "the time at the smallest N"
                                                                  : "the time at the smallest N, perfectly scaled")));
    return table;
}

}  // namespace

std::vector<Table> scaling_call_tables(const ScalingSeries& series) {
    const RunsByN by_n = runs_by_n(series);
    if (by_n.empty()) return {};
    std::vector<Table> tables{budget_table(by_n)};
    if (by_n.size() < 2) return tables;
    const bool is_weak = series.scaling.is_weak;
    const std::vector<EfficiencyLine> efficiencies = efficiency_lines(by_n, is_weak);
    if (std::ranges::any_of(efficiencies, [](const EfficiencyLine& line) { return line.is_known; }))
        tables.push_back(efficiency_table(efficiencies, words_of(by_n), is_weak));
    tables.push_back(calls_table(by_n, is_weak));
    return tables;
}

}  // namespace mpiprof::report
