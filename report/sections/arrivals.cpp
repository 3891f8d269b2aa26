// arrivals: of each collective on each communicator, how long ranks waited for the last to arrive and how long moving
// the data took, from calls that all members have kept; and which ranks came last, how often and by how much.
#include <fmt/format.h>

#include <algorithm>

#include "report/analysis/analysed.h"
#include "report/model/units.h"
#include "report/sections/comm_labels.h"
#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t lines_on_screen = 20;
constexpr std::size_t last_ranks_on_screen = 3;  // of one call

// A communicator that is kept apart is called as `comms` calls it.
std::string label_of(const CommLabels& labels, const ComparedCall& call) {
    return labels.of({CommKind::known, call.comm});
}

struct Line {
    const ComparedCall* call = nullptr;
    std::string communicator, name;

    // Of one member, where it is known what it waited for.
    Value per_member(double ns) const {
        return call->waits_for == WaitsFor::unknown ? Value() : Value(ns / std::max(call->members, 1u));
    }
};

std::string_view name_of(WaitsFor waits) {
    switch (waits) {
        case WaitsFor::all:
            return "all";
        case WaitsFor::root:
            return "the root";
        case WaitsFor::members:
            return "all, at the root";
        case WaitsFor::unknown:
            break;
    }
    return "not known";
}

std::vector<Field<Line>> call_fields() {
    using L = const Line&;
    return {
        {{.id = "communicator", .title = "COMMUNICATOR", .drop = 3}, [](L l) { return l.communicator; }},
        {{.id = "call", .title = "CALL"}, [](L l) { return l.name; }},
        {{.id = "ranks", .title = "RANKS", .unit = Unit::count, .drop = 5},
         [](L l) { return std::uint64_t{l.call->members}; }},
        {{.id = "calls", .title = "CALLS", .unit = Unit::count, .drop = 2}, [](L l) { return l.call->calls; }},
        {{.id = "compared", .title = "COMPARED", .unit = Unit::count, .drop = 2}, [](L l) { return l.call->compared; }},
        {{.id = "waits_for", .title = "WAITS FOR", .drop = 4},
         [](L l) { return std::string(name_of(l.call->waits_for)); }},
        {{.id = "waiting_ns", .title = "WAITING", .unit = Unit::time, .same_unit = true},
         [](L l) { return l.per_member(l.call->waiting_ns); }},
        {{.id = "error_ns", .title = "+-", .unit = Unit::time, .drop = 1, .same_unit = true},
         [](L l) { return l.call->error_ns > 0 ? l.per_member(l.call->error_ns) : Value(); }},
        {{.id = "moving_ns", .title = "MOVING", .unit = Unit::time, .same_unit = true},
         [](L l) {
             // Of the others than the root it is not known.
             const bool is_known = l.call->waits_for != WaitsFor::members;
             return is_known ? l.per_member(l.call->time_ns - l.call->waiting_ns) : Value();
         }},
        {in_data("undecided", Unit::count), [](L l) { return l.call->undecided; }},
        {in_data("id"), [](L l) { return fmt::format("{:016x}", l.call->comm); }},
    };
}

struct LastLine {
    const ComparedCall* call = nullptr;
    const LastRank* last = nullptr;
    std::string communicator, name, host;
};

std::vector<Field<LastLine>> last_fields(bool has_hosts) {
    using L = const LastLine&;
    return {
        {{.id = "communicator", .title = "COMMUNICATOR", .drop = 3}, [](L l) { return l.communicator; }},
        {{.id = "call", .title = "CALL"}, [](L l) { return l.name; }},
        {{.id = "rank", .title = "RANK", .unit = Unit::rank}, [](L l) { return std::uint64_t{l.last->rank}; }},
        {{.id = "host", .title = "NODE", .drop = 1, .only_data = !has_hosts}, [](L l) { return l.host; }},
        {{.id = "times", .title = "LAST", .unit = Unit::count, .drop = 4}, [](L l) { return l.last->times; }},
        {{.id = "share", .title = "OF COMPARED", .unit = Unit::share},
         [](L l) { return static_cast<double>(l.last->times) / static_cast<double>(l.call->compared); }},
        {{.id = "behind_ns", .title = "BEHIND", .unit = Unit::time}, [](L l) { return l.last->behind_ns; }},
        {{.id = "waited_share", .title = "%WAITING", .unit = Unit::share, .drop = 4},
         [](L l) {
             const double all = l.call->compared_waiting_ns;
             return all > 0 ? Value(l.last->waited_ns / all) : Value();
         }},
        {{.id = "from_ns", .title = "FROM", .unit = Unit::time, .drop = 2}, [](L l) { return l.last->first_ns; }},
        {{.id = "to_ns", .title = "TO", .unit = Unit::time, .drop = 2}, [](L l) { return l.last->latest_ns; }},
        {in_data("id"), [](L l) { return fmt::format("{:016x}", l.call->comm); }},
    };
}

std::string communicators(std::uint64_t n) {
    return n == 1 ? std::string("1 communicator is") : fmt::format("{} communicators are", n);
}

void note_what_is_missing(Table& table, const Comparison& comparison) {
    if (comparison.calls.empty())
        table.notes.push_back(
            "no arrival data: it takes collectives, and a profile from every rank of the communicator");
    if (comparison.incomplete)
        table.notes.push_back(communicators(comparison.incomplete) +
                              " left out: some members have no profile, or sampled no calls");
    if (comparison.not_lined_up)
        table.notes.push_back(communicators(comparison.not_lined_up) +
                              " left out: no collective shared with the first node to align clocks by");
    if (comparison.nodes)
        table.notes.push_back(fmt::format(
            "clocks of {} nodes aligned by these collectives, to within {}: no rank leaves one before the last has entered",
            comparison.nodes + 1, human_time(comparison.clock_error_ns)));
}

Table call_table(const Job& job, const CommLabels& labels) {
    std::vector<Line> lines;
    for (const ComparedCall& call : job.comparison.calls)
        lines.push_back({&call, label_of(labels, call), job.calls[call.call].name});
    Table table = table_of("arrivals", call_fields(), lines);
    if (lines.empty()) return table;
    table.notes.push_back("times: mean per member, all calls, extrapolated from those COMPARED");
    table.notes.push_back(Note{{"until the last member, or the root, had entered the call", "waiting_ns"},
                               {"error at 95% confidence", "error_ns"},
                               {"the rest of the time", "moving_ns"}});
    table.notes.push_back("point-to-point calls are not compared: their WAITING in calls and ranks is an estimate");
    return table;
}

Table last_table(const Job& job, const CommLabels& labels, bool is_for_screen) {
    std::vector<LastLine> lines;
    for (const ComparedCall& call : job.comparison.calls)
        for (std::size_t i = 0; i < call.last_ranks.size() && (!is_for_screen || i < last_ranks_on_screen); ++i) {
            const LastRank& last = call.last_ranks[i];
            const Rank* rank = job.find(last.rank);
            lines.push_back({&call, &last, label_of(labels, call), job.calls[call.call].name,
                             rank ? host_of(job, rank->node) : ""});
        }
    Table table = table_of("last", last_fields(job.nodes.size() > 1), lines);
    table.title = "LATE ARRIVALS";
    if (!lines.empty())
        table.notes.push_back(Note{{"mean time behind the next-to-last rank", "behind_ns"},
                                   {"share of the waiting in the calls that were compared", "waited_share"},
                                   {"when it was last, since the end of the first MPI_Init", "from_ns"}});
    return table;
}

}  // namespace

Result<std::vector<Table>> arrivals(const Analysed& all, const Question& question) {
    const Job& job = all.job;
    const CommLabels labels(job);
    Table table = call_table(job, labels);
    if (auto ok = sort_rows(table, question); !ok) return tl::make_unexpected(ok.error());
    cut(table, question, lines_on_screen);
    note_what_is_missing(table, job.comparison);
    Table last = last_table(job, labels, question.is_for_screen);
    const std::size_t most = question.top.value_or(question.is_for_screen ? lines_on_screen : last.rows.size());
    cut(last, most, fmt::format(" rows: --top {}", last.rows.size()));
    return std::vector{std::move(table), std::move(last)};
}

}  // namespace mpiprof::report
