// What explains comes first, then what is tested, then what attributes it.
#include "report/compare/difference_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/model/joined.h"
#include "report/model/units.h"
#include "report/sections/budget_words.h"
#include "report/sections/section.h"
#include "report/statistics/statistics.h"

namespace mpiprof::report {
namespace {

std::string_view name_of(RunFact::Kind kind) {
    switch (kind) {
        case RunFact::Kind::label:
            return "label";
        case RunFact::Kind::program:
            return "program";
        case RunFact::Kind::size:
            return "size";
        case RunFact::Kind::place:
            return "place";
        case RunFact::Kind::library:
            return "library";
        case RunFact::Kind::code:
            return "code";
        case RunFact::Kind::setting:
            return "setting";
        case RunFact::Kind::environment:
            return "environment";
    }
    return "";
}

std::string_view id_of(TimeVerdict verdict) {
    switch (verdict) {
        case TimeVerdict::slower:
            return "slower";
        case TimeVerdict::faster:
            return "faster";
        case TimeVerdict::none_seen:
            return "none-seen";
        case TimeVerdict::one_run:
            return "one-run";
        case TimeVerdict::too_few:
            return "too-few";
        case TimeVerdict::not_in_turns:
            return "not-in-turns";
        case TimeVerdict::mixed_sizes:
            return "mixed-sizes";
        case TimeVerdict::no_time:
            return "no-time";
    }
    return "";
}

// ---- the head ----

constexpr std::size_t runs_named = 3;

// Of a side without a name which runs it is made of: "one, other, third and 2 more".
std::string runs_text(const Side& side) {
    std::vector<std::string> names;
    for (const ComparedRun& one : side.runs)
        if (std::find(names.begin(), names.end(), one.run.label) == names.end()) names.push_back(one.run.label);
    const std::size_t rest = names.size() - std::min(names.size(), runs_named);
    names.resize(names.size() - rest);
    return joined(names, ", ") + (rest != 0 ? fmt::format(" and {} more", rest) : "");
}

// "A before: 8 ranks on 2 nodes, 5 runs".
std::string side_text(const char* letter, const Side& side) {
    const Run& run = side.runs.front().run;
    const auto [fewest, most] = side.fewest_and_most_ranks();
    const std::string ranks =
        fewest == most ? plural(run.ranks, "rank", "ranks") : fmt::format("{} to {} ranks", fewest, most);
    return fmt::format("{}{}: {} on {}{}", letter, side.is_named ? " " + side.name : "", ranks,
                       plural(run.nodes, "node", "nodes"),
                       side.runs.size() > 1 ? fmt::format(", {} runs", side.runs.size()) : "") +
           (side.is_named ? "" : " (" + runs_text(side) + ")");
}

Table head_table(const Side& a, const Side& b) {
    return picture_table("head",
                         Headline{{{.line = 0, .key = "a", .value = a.name, .text = side_text("A", a)},
                                   {.line = 1, .key = "b", .value = b.name, .text = side_text("B", b)},
                                   {.line = 2, .key = "runs_a", .value = std::uint64_t{a.runs.size()}, .text = {}},
                                   {.line = 2, .key = "runs_b", .value = std::uint64_t{b.runs.size()}, .text = {}}}});
}

Table verdict_table(const Side& a, const Side& b, const RunDifference& difference) {
    const TestedTime& tested = difference.tested;
    const bool is_change = tested.verdict == TimeVerdict::slower || tested.verdict == TimeVerdict::faster;
    Remarks remarks{{{.is_serious = is_change,
                      .text = verdict_text(tested, a.name, b.name),
                      .rule = std::string(id_of(tested.verdict))}}};
    for (const std::string& text : cautions_of(a, b, difference)) remarks.remarks.push_back({false, text, "caution"});
    return picture_table("verdict", std::move(remarks));
}

// ---- what explains it ----

Table facts_table(const Side& a, const Side& b, const RunDifference& difference) {
    using F = const DifferingFact&;
    const std::vector<Field<DifferingFact>> fields{
        {{.id = "kind", .title = {}}, [](F f) { return std::string(name_of(f.kind)); }},
        {{.id = "name", .title = "DIFFERENCES IN SETUP"}, [](F f) { return f.name; }},
        {{.id = "a", .title = a.name}, [](F f) { return f.a.empty() ? std::string("-") : f.a; }},
        {{.id = "b", .title = b.name}, [](F f) { return f.b.empty() ? std::string("-") : f.b; }},
    };
    Table table = table_of("facts", fields, difference.facts);
    if (difference.facts.empty())
        table.notes.push_back("settings, environment, libraries, hosts, ranks and code: no difference");
    return table;
}

Value count_value(const CountRange& range) {
    if (!range.varies()) return fmt::format("{}", human_count(static_cast<double>(range.most)));
    return fmt::format("{}-{}", human_count(static_cast<double>(range.least)),
                       human_count(static_cast<double>(range.most)));
}
Value bytes_value(const CountRange& range) {
    if (!range.varies()) return human_bytes(static_cast<double>(range.most));
    return fmt::format("{}-{}", human_bytes(static_cast<double>(range.least)),
                       human_bytes(static_cast<double>(range.most)));
}

Table counts_table(const Side& a, const Side& b, const RunDifference& difference, const DifferenceQuestion& question) {
    using C = const DifferingCount&;
    std::vector<Field<DifferingCount>> fields{
        {{.id = "call", .title = "COUNTS THAT DIFFER"}, [](C c) { return c.call; }},
        {{.id = "calls_a_text", .title = "CALLS A", .only_screen = true}, [](C c) { return count_value(c.calls_a); }},
        {{.id = "calls_b_text", .title = "CALLS B", .only_screen = true}, [](C c) { return count_value(c.calls_b); }},
        {{.id = "bytes_a_text", .title = "BYTES A", .only_screen = true}, [](C c) { return bytes_value(c.bytes_a); }},
        {{.id = "bytes_b_text", .title = "BYTES B", .only_screen = true}, [](C c) { return bytes_value(c.bytes_b); }},
    };
    const std::pair<const char*, CountRange DifferingCount::*> ranges[] = {{"calls_a", &DifferingCount::calls_a},
                                                                           {"calls_b", &DifferingCount::calls_b},
                                                                           {"bytes_a", &DifferingCount::bytes_a},
                                                                           {"bytes_b", &DifferingCount::bytes_b}};
    for (const auto& [id, range] : ranges) {
        fields.push_back(
            {in_data(std::string(id) + "_least", Unit::count), [range = range](C c) { return (c.*range).least; }});
        fields.push_back(
            {in_data(std::string(id) + "_most", Unit::count), [range = range](C c) { return (c.*range).most; }});
    }
    Table table = table_of("counts", fields, difference.counts);
    if (difference.counts.empty())
        table.notes.push_back(difference.has_counts_that_vary
                                  ? "numbers of calls and bytes: equal, or overlapping where they vary from run to run"
                                  : "numbers of calls and bytes: equal, function by function");
    else if (are_whole(a) && are_whole(b))
        table.notes.push_back("over all ranks; exact: counts have no noise");
    else
        table.notes.push_back("of the ranks with a profile, up to their end: that alone may explain the difference");
    cut(table, question.top, fmt::format(": --top {}", table.rows.size()));
    return table;
}

// ---- what is tested, and its parts ----

struct TimeLine {
    std::string name, part;
    Both ns;
    bool is_tested = false;
};

// A figure of both sides, in two columns.
template <class T>
struct Twin {
    const char* id;     // {}: a or b
    const char* title;  // {}: A or B; null: only data
    Unit unit;
    Both T::*figure;
    int drop = 0;
};

template <class T>
void add_twins(std::vector<Field<T>>& fields, std::initializer_list<Twin<T>> twins) {
    constexpr std::tuple<const char*, const char*, std::optional<double> Both::*> sides[] = {{"a", "A", &Both::a},
                                                                                             {"b", "B", &Both::b}};
    for (const Twin<T>& twin : twins)
        for (const auto& [small, large, of] : sides)
            fields.push_back({{.id = fmt::format(fmt::runtime(twin.id), small),
                               .title = twin.title ? fmt::format(fmt::runtime(twin.title), large) : std::string(),
                               .unit = twin.unit,
                               .drop = twin.drop,
                               .same_unit = twin.unit == Unit::time,
                               .only_data = !twin.title},
                              [figure = twin.figure, side = of](const T& line) { return known(line.*figure.*side); }});
}

// The columns of a line of two times: A, B, the change, and how much of A's run that is, where they are parts of runs.
template <class T>
void add_times(
    std::vector<Field<T>>& fields, const std::function<Both(const T&)>& ns, double run_ns, int drop = 1,
    const std::function<bool(const T&)>& is_part = [](const T&) { return true; }) {
    fields.push_back({{.id = "a_ns", .title = "TIME A", .unit = Unit::time, .same_unit = true},
                      [ns](const T& t) { return known(ns(t).a); }});
    fields.push_back({{.id = "b_ns", .title = "TIME B", .unit = Unit::time, .same_unit = true},
                      [ns](const T& t) { return known(ns(t).b); }});
    fields.push_back(
        {{.id = "change_percent", .title = "CHANGE %", .unit = Unit::number, .decimals = 1}, [ns](const T& t) {
             const auto change = ns(t).change();
             return change ? Value(100 * *change) : Value();
         }});
    fields.push_back({{.id = "of_run_percent", .title = "% OF RUN", .unit = Unit::number, .drop = drop, .decimals = 1},
                      [ns, run_ns, is_part](const T& t) {
                          return run_ns > 0 && is_part(t) ? Value(100 * ns(t).difference() / run_ns) : Value();
                      }});
}

Table times_table(const Side& a, const Side& b, const RunDifference& difference) {
    std::vector<TimeLine> lines;
    const TestedTime& tested = difference.tested;
    if (tested.has_ratio())
        lines.push_back(
            {time_name(tested.time), "tested", {1e9 * median_of(tested.a), 1e9 * median_of(tested.b)}, true});
    const Vocabulary* words = a.runs.front().run.words;
    for (const Side* side : {&a, &b})
        for (const ComparedRun& one : side->runs) words = &vocabulary_of_both(*words, *one.run.words);
    for (const DifferingPart& part : difference.parts)
        lines.push_back({"  " + line_of(part.part, *words), std::string(id_of(part.part)), part.ns});
    std::vector<Field<TimeLine>> fields{{{.id = "what", .title = "TIME"}, [](const TimeLine& t) { return t.name; }},
                                        {in_data("part"), [](const TimeLine& t) { return t.part; }}};
    add_times<TimeLine>(
        fields, [](const TimeLine& t) { return t.ns; }, difference.run_ns, 1,
        [](const TimeLine& t) { return !t.is_tested; });
    const auto of_tested = [&](const char* id, auto value) {
        fields.push_back(
            {in_data(id, Unit::number), [value](const TimeLine& t) { return t.is_tested ? value() : Value(); }});
    };
    of_tested("ratio", [&tested] { return Value(tested.ratio.estimate); });
    of_tested("ratio_low", [&tested] { return known(tested.ratio.low); });
    of_tested("ratio_high", [&tested] { return known(tested.ratio.high); });
    Table table = table_of("times", fields, lines);
    if (tested.a.size() > 1 || tested.b.size() > 1)
        table.notes.push_back(
            fmt::format("medians over the runs of each side, and their change; the test is on the median of the "
                        "changes of all pairs of runs, {}",
                        signed_share(tested.ratio.estimate - 1)));
    table.notes.push_back(Note::on("of_run_percent", "the change as a share of A's run"));
    return table;
}

// ---- what attributes it ----

template <class T>
std::vector<T> shown_of(const std::vector<T>& list, const DifferenceQuestion& question) {
    return {list.begin(), list.begin() + static_cast<std::ptrdiff_t>(std::min(list.size(), question.top))};
}

void note_rest(Table& table, std::size_t all, const DifferenceQuestion& question) {
    if (all > question.top) table.notes.push_back(fmt::format("{} more: --top {}", all - question.top, all));
}

Table calls_table(const RunDifference& difference, const DifferenceQuestion& question) {
    using C = const DifferingCall&;
    std::vector<Field<DifferingCall>> fields{
        {{.id = "call", .title = "CALL"}, [](C c) { return c.call; }},
        {{.id = "size_bytes", .title = "AVG SIZE", .unit = Unit::bytes},
         [](C c) { return c.size.a ? known(c.size.a) : known(c.size.b); }},
        {{.id = "buffer", .title = "BUFFER", .drop = 2},
         [](C c) { return c.buffer == Buffer::host ? std::string() : std::string(name_of(c.buffer)); }},
    };
    add_twins<DifferingCall>(fields, {{"calls_{}", "CALLS {}", Unit::count, &DifferingCall::calls, 4}});
    add_times<DifferingCall>(
        fields, [](C c) { return c.ns; }, difference.run_ns, 1);
    add_twins<DifferingCall>(fields, {{"rate_{}", "RATE {}", Unit::rate, &DifferingCall::rate, 3},
                                      {"gpu_{}_ns", "GPU {}", Unit::time, &DifferingCall::gpu_ns, 5},
                                      {"gpu_rate_{}", nullptr, Unit::rate, &DifferingCall::gpu_rate}});
    Table table = table_of("calls", fields, shown_of(difference.calls, question));
    table.title = "CALLS BY SIZE";
    table.notes.push_back(
        {{"times: mean of the ranks"}, {"bytes of a call over its time, for calls that do more than post", "rate_a"}});
    note_rest(table, difference.calls.size(), question);
    return table;
}

Table sites_table(const RunDifference& difference, const DifferenceQuestion& question) {
    using S = const DifferingSite&;
    std::vector<Field<DifferingSite>> fields{
        {{.id = "place", .title = "FROM", .is_place = true}, [](S s) { return s.place; }},
        {{.id = "call", .title = "CALL"}, [](S s) { return s.call; }},
    };
    add_twins<DifferingSite>(fields, {{"calls_{}", nullptr, Unit::count, &DifferingSite::calls}});
    add_times<DifferingSite>(
        fields, [](S s) { return s.ns; }, difference.run_ns);
    Table table = table_of("sites", fields, shown_of(difference.sites, question));
    table.title = "CALL SITES";
    note_rest(table, difference.sites.size(), question);
    return table;
}

Table pairs_table(const RunDifference& difference, const DifferenceQuestion& question) {
    using P = const DifferingPair&;
    const auto rank = [](std::uint32_t r) { return Value(std::uint64_t{r}); };
    std::vector<Field<DifferingPair>> fields{
        {{.id = "from", .title = "FROM", .unit = Unit::rank}, [rank](P p) { return rank(p.from); }},
        {{.id = "to", .title = "TO", .unit = Unit::rank}, [rank](P p) { return rank(p.to); }},
    };
    add_twins<DifferingPair>(fields, {{"messages_{}", "MESSAGES {}", Unit::count, &DifferingPair::messages},
                                      {"bytes_{}", "BYTES {}", Unit::bytes, &DifferingPair::bytes}});
    Table table = table_of("pairs", fields, shown_of(difference.pairs, question));
    table.title = "TRAFFIC BETWEEN RANKS";
    const Both &all = difference.bytes_of_pairs, &between = difference.bytes_between_nodes;
    table.notes.push_back(fmt::format("A: {} in all, {} of it between nodes; B: {} and {}", human_bytes(all.of_a()),
                                      human_bytes(between.of_a()), human_bytes(all.of_b()),
                                      human_bytes(between.of_b())));
    note_rest(table, difference.pairs.size(), question);
    return table;
}

Table regions_table(const RunDifference& difference) {
    using R = const DifferingRegion&;
    std::vector<Field<DifferingRegion>> fields{
        {{.id = "region", .title = "REGION"}, [](R r) { return r.path; }},
        {in_data("is_iteration"), [](R r) { return Yes{r.is_iteration}; }},
    };
    add_twins<DifferingRegion>(fields, {{"times_{}", nullptr, Unit::count, &DifferingRegion::times}});
    add_times<DifferingRegion>(
        fields, [](R r) { return r.ns; }, difference.run_ns, 1, [](R r) { return !r.is_iteration; });
    add_twins<DifferingRegion>(fields, {{"mpi_{}_ns", "IN MPI {}", Unit::time, &DifferingRegion::mpi_ns, 2},
                                        {"p50_{}_ns", "MEDIAN {}", Unit::time, &DifferingRegion::p50_ns, 3},
                                        {"p95_{}_ns", "P95 {}", Unit::time, &DifferingRegion::p95_ns, 4}});
    Table table = table_of("regions", fields, difference.regions);
    table.title = "REGIONS";
    table.notes.push_back("times: mean of the ranks; of iterations that of one");
    return table;
}

}  // namespace

std::vector<Table> difference_tables(const Side& a, const Side& b, const RunDifference& difference,
                                     const DifferenceQuestion& question) {
    std::vector<Table> tables{head_table(a, b),
                              verdict_table(a, b, difference),
                              facts_table(a, b, difference),
                              counts_table(a, b, difference, question),
                              times_table(a, b, difference),
                              calls_table(difference, question)};
    if (!difference.sites.empty()) tables.push_back(sites_table(difference, question));
    if (!difference.pairs.empty()) tables.push_back(pairs_table(difference, question));
    if (!difference.regions.empty()) tables.push_back(regions_table(difference));
    return tables;
}

}  // namespace mpiprof::report
