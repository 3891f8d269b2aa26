// sites: from where in the program MPI is called, how often and how long, with the callers as far as they are the same
// for all these calls.
#include <algorithm>
#include <set>

#include "report/analysis/analysed.h"
#include "report/analysis/figures.h"
#include "report/model/units.h"
#include "report/sections/call_columns.h"
#include "report/sections/comm_labels.h"
#include "report/sections/section.h"
#include "report/sections/site_lines.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t lines_on_screen = 20;

std::vector<Field<SiteLine>> time_fields(SitesBy by, const Vocabulary& words) {
    using L = const SiteLine&;
    const bool may_be_several = by == SitesBy::function || by == SitesBy::file;
    return side_by_side<SiteLine>({
        {{.id = "call", .title = may_be_several ? "CALLS OF" : "CALL", .drop = may_be_several ? 3 : 0},
         [](L l) { return names_text(l.call_names, 2); }},
        columns::calls(),
        columns::size(4),
        columns::time(),
        columns::mpi_share(words),
        columns::waiting(1),
        {{.id = "imbalance", .title = "IMBAL", .unit = Unit::share, .drop = 2},
         [](L l) {  // of the ranks that call from here
             if (l.callers < 2 || l.time_ns == 0) return Value();
             return Value(static_cast<double>(l.largest_ns.value_or(0)) * l.callers / static_cast<double>(l.time_ns) -
                          1);
         }},
    });
}

std::vector<Field<SiteLine>> rank_fields(SitesBy by, bool some_ranks_only, bool has_errors) {
    using L = const SiteLine&;
    return side_by_side<SiteLine>({
        columns::largest(7),
        {{.id = "ranks", .title = "RANKS", .unit = Unit::count, .drop = 5, .only_data = !some_ranks_only},
         [](L l) { return known(std::uint64_t{l.callers}); }},
        {{.id = "communicators", .title = "ON", .drop = 6}, [](L l) { return names_text(l.comms, 2); }},
        {{.id = "sites", .title = "SITES", .unit = Unit::count, .drop = 8, .only_data = by == SitesBy::stack},
         [](L l) { return std::uint64_t{l.sites}; }},
        columns::errors(!has_errors),
    });
}

std::vector<Field<SiteLine>> place_fields(SitesBy by) {
    using L = const SiteLine&;
    constexpr std::string_view titles[] = {"CALLED FROM", "LINE", "FUNCTION", "FILE", "CALL"};
    return {
        {{.id = "from",
          .title = std::string(titles[static_cast<int>(by)]),
          .only_screen = true,
          .is_place = by != SitesBy::file},
         [](L l) { return l.name; }},
        {in_data("function"), [](L l) { return l.source.function; }},
        {in_data("file"), [](L l) { return l.source.file; }},
        {in_data("line", Unit::count), [](L l) { return known(std::uint64_t{l.source.line}); }},
        {in_data("module"), [](L l) { return l.module; }},
        {in_data("offset", Unit::count),
         [](L l) { return l.sites == 1 && !l.site.frames.empty() ? Value(l.site.frames.front().offset) : Value(); }},
        {in_data("stack"), [](L l) { return l.stack; }},
    };
}

std::vector<Field<SiteLine>> total_fields() {
    using L = const SiteLine&;
    return side_by_side<SiteLine>({
        {in_data("min_ns", Unit::time), [](L l) { return value_of(l.min_ns); }},
        {in_data("max_ns", Unit::time), [](L l) { return known(l.max_ns); }},
        {in_data("waiting_ns", Unit::time), [](L l) { return l.judged_ns ? Value(l.waiting_ns) : Value(); }},
        columns::totals(),
    });
}

std::vector<Field<SiteLine>> fields(SitesBy by, bool some_ranks_only, bool has_errors, const Vocabulary& words) {
    auto fields = side_by_side<SiteLine>(
        {time_fields(by, words), rank_fields(by, some_ranks_only, has_errors), place_fields(by), total_fields()});
    const std::string_view own = by == SitesBy::function ? "function_name" : by == SitesBy::file ? "file_name" : "";
    if (!own.empty())
        fields.insert(fields.begin(), {in_data(std::string(own)), [](const SiteLine& l) { return l.name; }});
    if (by == SitesBy::call) std::erase_if(fields, [](const auto& field) { return field.column.id == "from"; });
    return fields;
}

// The callers below each row, indented. Rows keep the number of their line in the last column.
void show_callers(Table& table, const std::vector<SiteLine>& lines) {
    const auto from = static_cast<std::size_t>(
        std::find_if(table.columns.begin(), table.columns.end(), [](const Column& c) { return c.id == "from"; }) -
        table.columns.begin());
    std::vector<std::vector<Value>> rows;
    for (auto& row : table.rows) {
        const SiteLine& line = lines[std::get<std::uint64_t>(row.back())];
        rows.push_back(std::move(row));
        for (const std::string& caller : line.below) {
            std::vector<Value>& below = rows.emplace_back(table.columns.size(), std::string());
            below[from] = "  " + caller;
        }
    }
    table.rows = std::move(rows);
}

void add_notes(Table& table, const SitesContext& context, const std::vector<SiteLine>& lines, SitesBy by) {
    const auto any = [&](auto wanted) { return std::ranges::any_of(lines, wanted); };
    const Job& job = context.job;
    const auto ranks = static_cast<std::uint64_t>(context.ranks);
    Note shown(ranks == 1 ? std::string("CALLS and TIME: 1 rank")
                          : fmt::format("CALLS: sum over {} ranks; TIME: their mean", ranks));
    if (by == SitesBy::stack)
        shown.add({"by how much the rank with most time exceeds the mean of those that call from there", "imbalance"});
    table.notes.push_back(std::move(shown));
    if (any([](const SiteLine& l) { return l.waiting_ns != 0; }))
        table.notes.push_back(
            Note::on("waiting_share", "an upper bound, the time above the fastest call of the same size; see calls"));
    if (!job.comparison.calls.empty() && any([](const SiteLine& l) { return l.compared_ns != 0; }))
        table.notes.push_back(Note::on("waiting_share", std::string(waiting_is_known)));
    if (!unfinished_rows(job, {}).empty()) table.notes.push_back(std::string(unfinished_left_out));
    if (any([](const SiteLine& l) { return l.site.frames.empty(); }))
        table.notes.push_back(job.is_text ? "mpitrace's text has no call sites"
                                          : "(other): sites beyond the table, and "
                                            "unsampled MPI_Test and MPI_Probe");
}

}  // namespace

Result<std::vector<Table>> sites(const Analysed& all, const Question& question) {
    const Job& job = all.job;
    const SitesBy by = sites_by(question.by);
    const SitesContext context(job, question);
    const CommLabels labels(job);
    SitePlaces places(context.found);
    const std::size_t most =
        question.top.value_or(question.is_for_screen ? lines_on_screen : context.found.sites.size());
    // Sites come by their time: only those that are shown are looked up.
    const bool is_cut = by == SitesBy::stack && question.sort.empty();
    const std::size_t wanted = is_cut ? std::min(most, context.found.sites.size()) : context.found.sites.size();
    std::vector<SiteLine> lines;
    for (std::size_t i = 0; i < wanted; ++i) {
        lines.push_back(line_of(context, labels, context.found.sites[i]));
        if (by != SitesBy::call) describe(lines.back(), places, question.is_for_screen);
    }
    if (by != SitesBy::stack)
        lines = grouped(lines, by, job);
    else
        tell_apart(lines, places, question.is_for_screen);

    const bool some_only =
        std::ranges::any_of(lines, [&](const SiteLine& l) { return l.callers != 0 && l.callers < context.ranks; });
    const bool has_errors = std::ranges::any_of(lines, [](const SiteLine& l) { return l.errors != 0; });
    auto columns = fields(by, some_only, has_errors, vocabulary_of(job));
    const SiteLine* first = lines.data();
    columns.push_back({{.id = "number", .title = {}, .unit = Unit::count, .only_data = true, .only_screen = true},
                       [first](const SiteLine& l) { return static_cast<std::uint64_t>(&l - first); }});
    Table table = table_of("sites", columns, lines);
    if (auto ok = sort_rows(table, question, "total_time_ns"); !ok) return tl::make_unexpected(ok.error());
    keep_top(table, most);
    const std::size_t in_all = is_cut ? context.found.sites.size() : lines.size();
    const std::size_t left_out = in_all - std::min(in_all, table.rows.size());
    if (question.is_for_screen && by == SitesBy::stack) show_callers(table, lines);
    std::set<std::uint16_t> of_calls;
    for (const SiteLine& line : lines) of_calls.insert(line.site.call);
    note_exchanges(table.notes, job, of_calls);
    note_replays(table.notes, job);
    if (!lines.empty()) add_notes(table, context, lines, by);
    if (left_out) table.notes.push_back(fmt::format("{} more: --top {}", left_out, in_all));
    for (std::string& note : places.notes()) table.notes.push_back(std::move(note));
    return std::vector{std::move(table)};
}

}  // namespace mpiprof::report
