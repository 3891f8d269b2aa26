// The columns, each with its id for csv and json, and its place in the order in which narrow screens leave them out.
// Which calls exchange is the profile's to say, none is known by its name here.
#include "report/sections/call_columns.h"

#include <fmt/format.h>

#include <string>

#include "report/model/tally.h"

namespace mpiprof::report {

CallLine line_of(const Row& row, const Job& job) {
    CallLine line{.call = &job.calls[row.sum.call], .bin = {}, .min_ns = {}, .largest_ns = {}};
    add_tally(line, row.sum);
    line.timed_calls = row.sum.timed_calls();
    line.waiting_ns = row.waiting_ns;
    line.judged_ns = row.judged_ns;
    line.is_timed = line.call->treatment == Treatment::timed && !row.sum.is_untimed();
    line.is_unfinished = row.is_unfinished;
    line.largest_rank = row.largest_rank;
    if (line.is_timed && row.ranks != 0) line.largest_ns = row.largest_ns;
    return line;
}

namespace columns {

using L = const CallLine&;

namespace {

Value share(L l, double whole_ns) { return l.is_timed ? ratio(l.time_ns, whole_ns) : Value(); }

}  // namespace

OfCalls call(bool marks_unfinished) {
    return {{.id = "call", .title = "CALL"}, [marks_unfinished](L l) {
                return l.call->name + (marks_unfinished && l.is_unfinished ? " (unfinished)" : "");
            }};
}

OfCalls bin() {
    return {in_data("bin_max_bytes", Unit::bytes), [](L l) { return l.bin ? Value(bin_max_bytes(*l.bin)) : Value(); }};
}

OfCalls size(int drop) {
    return {{.id = "avg_bytes", .title = "AVG SIZE", .unit = Unit::bytes, .drop = drop},
            [](L l) { return l.has_size() ? ratio(l.bytes, l.calls) : Value(); }};
}

std::vector<OfCalls> calls() {
    return {
        {{.id = "all_calls", .title = "CALLS", .unit = Unit::count, .only_screen = true}, [](L l) { return l.calls; }},
        {in_data("calls_per_rank", Unit::count), [](L l) { return l.mean(l.calls); }}};
}

OfCalls time() {
    return {{.id = "time_ns", .title = "TIME", .unit = Unit::time, .same_unit = true},
            [](L l) { return l.is_timed ? Value(l.mean(l.time_ns)) : Value(); }};
}

OfCalls wall_share() {
    return {{.id = "wall_share", .title = "%WALL", .unit = Unit::share}, [](L l) { return share(l, l.wall_ns); }};
}

OfCalls mpi_share(const Vocabulary& words, int drop) {
    return {{.id = "mpi_share", .title = std::string(words.share), .unit = Unit::share, .drop = drop},
            [](L l) { return share(l, l.mpi_ns); }};
}

OfCalls wall_bar(int drop) {
    return {bar(drop), [](L l) { return share(l, l.wall_ns); }};
}

OfCalls mpi_bar(int drop) {
    return {bar(drop), [](L l) { return share(l, l.mpi_ns); }};
}

OfCalls per_call(int drop) {
    return {{.id = "per_call_ns", .title = "PER CALL", .unit = Unit::time, .drop = drop},
            [](L l) { return l.is_timed ? ratio(l.time_ns, l.timed_calls) : Value(); }};
}

OfCalls waiting(int drop, bool only_data) {
    return {{.id = "waiting_share", .title = "WAITING", .unit = Unit::share, .drop = drop, .only_data = only_data},
            [](L l) { return waiting_share(l.waiting_ns, l.judged_ns, l.time_ns); }};
}

std::vector<OfCalls> largest(int drop, bool only_data) {
    return {{{.id = "largest_ns",
              .title = "MOST",
              .unit = Unit::time,
              .drop = drop,
              .same_unit = true,
              .only_data = only_data},
             [](L l) { return value_of(l.largest_ns); }},
            {{.id = "largest_rank", .title = "RANK", .unit = Unit::rank, .drop = drop, .only_data = only_data},
             [](L l) { return l.largest_ns ? Value(std::uint64_t{l.largest_rank}) : Value(); }}};
}

OfCalls errors(bool only_data) {
    return {{.id = "errors", .title = "ERRORS", .unit = Unit::count, .only_data = only_data},
            [](L l) { return l.errors; }};
}

OfCalls traffic() {
    return {in_data("traffic"), [](L l) { return std::string(name_of(l.call->traffic)); }};
}

OfCalls calls_total() {
    return {in_data("calls_total", Unit::count), [](L l) { return l.calls; }};
}

std::vector<OfCalls> totals() {
    return {calls_total(),
            {in_data("total_bytes", Unit::bytes), [](L l) { return l.bytes; }},
            {in_data("total_time_ns", Unit::time), [](L l) { return l.time_ns; }}};
}

OfCalls unfinished() {
    return {in_data("unfinished"), [](L l) { return Yes{l.is_unfinished}; }};
}

}  // namespace columns

void note_exchanges(std::vector<Note>& notes, const Job& job, const std::set<std::uint16_t>& calls) {
    std::vector<std::string> names;
    for (const std::uint16_t call : calls)  // in the order of their names
        if (job.calls[call].traffic == Traffic::exchange) names.push_back(job.calls[call].name);
    if (names.empty()) return;
    notes.push_back(fmt::format("AVG SIZE of {}: sent plus received; peers counts each message once, at the sender",
                                fmt::join(names, ", ")));
}

void note_replays(std::vector<Note>& notes, const Job& job) {
    if (job.gpu.replayed_operations() != 0 || job.gpu.ranks_missing_replays != 0)
        notes.push_back(
            "replays of CUDA graphs repeat NCCL operations without a call and are not listed here: mpiprof-report nccl");
}

}  // namespace mpiprof::report
