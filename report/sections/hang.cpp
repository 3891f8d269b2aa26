// hang: where every rank stands, ranks that stand alike on one line, and who waits for whom. Of a running job, of one
// that was killed, and of one where nobody hangs.
#include <algorithm>

#include "report/analysis/analysed.h"
#include "report/analysis/arrivals.h"
#include "report/analysis/hangs.h"
#include "report/model/units.h"
#include "report/sections/hang_conclusion.h"
#include "report/sections/hang_words.h"
#include "report/sections/section.h"
#include "report/sections/standing_lines.h"
#include "report/sections/vocabulary.h"
#include "report/symbols/symbols.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t lines_on_screen = 24;
constexpr std::size_t items_on_screen = 5;  // of a list of ranks in a column
constexpr std::size_t items_in_data = 100'000;

// "0-6,8-15", for columns.
std::string short_list(const std::vector<std::uint32_t>& ranks, std::size_t most_items) {
    std::string text;
    std::size_t items = 0;
    for (std::size_t i = 0; i < ranks.size(); ++items) {
        std::size_t end = i + 1;
        while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
        if (items == most_items) return text + fmt::format(",+{}", ranks.size() - i);
        if (end - i == 2) end = i + 1;
        text += fmt::format("{}{}", text.empty() ? "" : ",", ranks[i]);
        if (end - i > 1) text += fmt::format("-{}", ranks[end - 1]);
        i = end;
    }
    return text;
}

std::string where(const StandingLine& line) {
    if (line.is_inside) return line.call + (line.group.empty() ? "" : " on " + line.group);
    const Condition condition = line.ending.condition;
    if (condition == Condition::finalized || condition == Condition::no_profile) return "";
    if (line.call.empty()) return "program";
    return "program, after " + line.call;
}

std::string times_text(const StandingLine& line) {
    if (line.most_entered == 0) return "";
    if (line.least_entered == line.most_entered) return human_count(static_cast<double>(line.most_entered));
    return fmt::format("{}-{}", line.least_entered, line.most_entered);
}

std::vector<Field<StandingLine>> fields(bool is_for_screen) {
    using L = const StandingLine&;
    const std::size_t items = is_for_screen ? items_on_screen : items_in_data;
    const auto source = [](L l) { return l.symbol.lines.empty() ? SourceLine{} : l.symbol.lines.front(); };
    return {
        {{.id = "ranks", .title = "RANKS"}, [items](L l) { return short_list(l.ranks, items); }},
        {{.id = "number", .title = "NO.", .unit = Unit::count}, [](L l) { return std::uint64_t{l.ranks.size()}; }},
        {{.id = "where", .title = "WHERE", .only_screen = true}, [](L l) { return where(l); }},
        {{.id = "times", .title = "TIMES", .drop = 4, .only_screen = true}, [](L l) { return times_text(l); }},
        {{.id = "since_ns", .title = "SINCE", .unit = Unit::time, .drop = 3}, [](L l) { return known(l.since_ns); }},
        {{.id = "for_ns", .title = "FOR", .unit = Unit::time}, [](L l) { return known(l.for_ns); }},
        {{.id = "state", .title = "STATE", .drop = 2}, [](L l) { return text_of(l.ending); }},
        {{.id = "from", .title = "CALLED FROM", .drop = 1, .only_screen = true, .is_place = true},
         [](L l) { return l.from; }},
        {in_data("inside"), [](L l) { return Yes{l.is_inside}; }},
        {in_data("call"), [](L l) { return l.call; }},
        {in_data("communicator"), [](L l) { return l.group; }},
        {in_data("least_for_ns", Unit::time), [](L l) { return l.for_ns ? Value(l.least_for_ns) : Value(); }},
        {in_data("least_entered", Unit::count), [](L l) { return l.most_entered ? Value(l.least_entered) : Value(); }},
        {in_data("most_entered", Unit::count), [](L l) { return known(l.most_entered); }},
        {in_data("function"), [source](L l) { return source(l).function; }},
        {in_data("file"), [source](L l) { return source(l).file; }},
        {in_data("line", Unit::count), [source](L l) { return known(std::uint64_t{source(l).line}); }},
        {in_data("module"), [](L l) { return l.module ? l.module->path : ""; }},
        {in_data("offset", Unit::count), [](L l) { return l.at ? Value(l.at->offset) : Value(); }},
        {{.id = "thread", .title = "THREAD", .drop = 5},
         [](L l) { return std::string(l.thread == ThreadKind::main ? "main" : "other"); }},
    };
}

Table lag_table(const Job& job, const std::vector<Arrival>& lags, bool is_for_screen) {
    using A = const Arrival&;
    const std::size_t items = is_for_screen ? items_on_screen : items_in_data;
    Table table = table_of(
        "nccl_lags",
        std::vector<Field<Arrival>>{
            {{.id = "call", .title = "COLLECTIVE"}, [&job](A a) { return name_of(a, job); }},
            {{.id = "communicator", .title = "ON", .drop = 2}, [&job](A a) { return group_name(job.groups[a.group]); }},
            {{.id = "entered", .title = "TIMES", .unit = Unit::count}, [](A a) { return a.entered; }},
            {{.id = "enqueued_by", .title = "BY RANKS", .drop = 1},
             [items](A a) { return short_list(a.inside, items); }},
            {{.id = "least_entered", .title = "FEWER", .unit = Unit::count}, [](A a) { return a.least_entered; }},
            {{.id = "missing", .title = "BY RANKS"}, [items](A a) { return short_list(a.missing, items); }},
        },
        lags);
    table.title = "ENQUEUED BY SOME MEMBERS MORE OFTEN THAN BY OTHERS: THEIR GPUS WAIT";
    return table;
}

// What is proven, for programs; people read it in the title of the standings.
Table hang_table(const Analysed& all) {
    HeadlineTable lines("hang");
    const std::optional<Hang>& hang = all.hang();
    lines.add("is_proven", Yes{hang.has_value()});
    lines.add("class", hang ? Value(std::string(id_of(hang->kind))) : Value());
    lines.add("is_over", Yes{is_over(all.job)});
    lines.add("text", hang ? Value(words_of(*hang, all.job, is_over(all.job))) : Value());
    lines.add("communicator",
              hang && hang->group != 0 ? Value(communicator_text(all.job.groups[hang->group])) : Value());
    lines.add("collective", hang ? known(hang->at) : Value());
    lines.add("for_ns", hang ? known(hang->for_ns) : Value());
    lines.add("gone", hang && !hang->gone.empty() ? Value(short_list(hang->gone, items_in_data)) : Value());
    return lines.take();
}

// Its parties: who stands where.
Table party_table(const Analysed& all) {
    using P = const Party&;
    const Job& job = all.job;
    Symbols symbols;
    const auto source_of = [&](P p) -> SourceLine {
        const Place& place = job.places[p.place];
        const Symbol& symbol = p.place == 0 ? Symbol{} : symbols.at(job.modules[place.module], place.offset);
        return symbol.lines.empty() ? SourceLine{} : symbol.lines.front();
    };
    const auto text = [](const std::string& part) { return part.empty() ? Value() : Value(part); };
    return table_of("parties",
                    std::vector<Field<Party>>{
                        {{.id = "ranks", .title = {}}, [](P p) { return short_list(p.ranks, items_in_data); }},
                        {{.id = "call", .title = {}}, [&](P p) { return job.calls[p.call].name; }},
                        {{.id = "has_passed", .title = {}}, [](P p) { return Yes{p.has_passed}; }},
                        {{.id = "communicator", .title = {}},
                         [&](P p) { return p.group ? text(communicator_text(job.groups[*p.group])) : Value(); }},
                        {{.id = "root", .title = {}, .unit = Unit::rank},
                         [](P p) { return p.root >= 0 ? Value(static_cast<std::uint64_t>(p.root)) : Value(); }},
                        {{.id = "for_ns", .title = {}, .unit = Unit::time}, [](P p) { return known(p.for_ns); }},
                        {{.id = "function", .title = {}}, [&](P p) { return text(source_of(p).function); }},
                        {{.id = "file", .title = {}}, [&](P p) { return text(source_of(p).file); }},
                        {{.id = "line", .title = {}, .unit = Unit::count},
                         [&](P p) { return known(std::uint64_t{source_of(p).line}); }},
                    },
                    all.hang() ? all.hang()->parties : std::vector<Party>{});
}

Table arrival_table(const Job& job, const std::vector<Arrival>& arrivals, bool is_for_screen) {
    using A = const Arrival&;
    const std::size_t items = is_for_screen ? items_on_screen : items_in_data;
    const std::vector<Field<Arrival>> columns{
        {{.id = "call", .title = "COLLECTIVE"}, [&job](A a) { return name_of(a, job); }},
        {{.id = "communicator", .title = "ON", .drop = 2},
         [&job](A a) {
             if (a.group == 0) return std::string();
             const std::string name = group_name(job.groups[a.group]);
             return name.empty() ? std::string("MPI_COMM_WORLD") : name;
         }},
        {{.id = "entered", .title = "TIMES", .unit = Unit::count, .drop = 3}, [](A a) { return a.entered; }},
        {{.id = "for_ns", .title = "FOR", .unit = Unit::time}, [](A a) { return known(a.for_ns); }},
        {{.id = "inside", .title = "RANKS IN IT", .drop = 1}, [items](A a) { return short_list(a.inside, items); }},
        {{.id = "missing", .title = "NOT ARRIVED"}, [items](A a) { return short_list(a.missing, items); }},
        {{.id = "least_entered", .title = "TIMES", .unit = Unit::count, .drop = 3},
         [](A a) { return a.missing.empty() ? Value() : Value(a.least_entered); }},
        {in_data("passed", Unit::count), [](A a) { return std::uint64_t{a.passed}; }},
    };
    return table_of("arrivals", columns, arrivals);
}

}  // namespace

Result<std::vector<Table>> hang(const Analysed& all, const Question& question) {
    const Job& job = all.job;
    const StandingLines lines(job);
    std::vector<StandingLine> shown = lines.all();
    std::erase_if(shown, [&](const StandingLine& line) {
        return !question.ranks.empty() && std::ranges::none_of(question.ranks, [&](std::uint32_t r) {
            return std::binary_search(line.ranks.begin(), line.ranks.end(), r);
        });
    });
    Table table = table_of("standings", fields(question.is_for_screen), shown);
    const bool has_threads =
        std::ranges::any_of(shown, [](const StandingLine& l) { return l.thread != ThreadKind::main; });
    const bool all_run =
        std::ranges::all_of(shown, [](const StandingLine& l) { return l.ending.condition == Condition::running; });
    for (Column& column : table.columns)
        if ((column.id == "thread" && !has_threads) || (column.id == "state" && all_run)) column.only_data = true;
    table.title = conclusion(all, lines);
    const std::size_t most = question.top.value_or(question.is_for_screen ? lines_on_screen : table.rows.size());
    if (const std::size_t left_out = keep_top(table, most); left_out && question.is_for_screen)
        table.notes.push_back(
            fmt::format("{} more: hang --top {}", plural(left_out, "line", "lines"), most + left_out));
    const bool any_times = std::ranges::any_of(shown, [](const StandingLine& l) { return l.for_ns != 0; });
    if (any_times)
        table.notes.push_back(Note{
            {fmt::format("after {}, of the rank that has been there longest", vocabulary_of(job).init), "since_ns"},
            {"until now, or its last profile update", "for_ns"}});
    for (const std::string& problem : lines.problems()) table.notes.push_back(problem);
    std::vector<Table> tables{std::move(table)};
    std::vector<Arrival> arrivals = all.arrivals();
    std::erase_if(arrivals, [](const Arrival& a) { return a.missing.empty(); });
    if (!arrivals.empty()) tables.push_back(arrival_table(job, arrivals, question.is_for_screen));
    if (!all.not_enqueued().empty()) tables.push_back(lag_table(job, all.not_enqueued(), question.is_for_screen));
    if (question.is_for_screen) return tables;
    tables.push_back(hang_table(all));
    tables.push_back(party_table(all));
    return tables;
}

}  // namespace mpiprof::report
