// calls: every call by message size (or summed up, --by call): how often all ranks together made it, and its time as
// the mean over ranks; with --rank only theirs.
#include <algorithm>
#include <set>

#include "report/analysis/analysed.h"
#include "report/analysis/bus_bandwidth.h"
#include "report/analysis/figures.h"
#include "report/model/sums.h"
#include "report/model/units.h"
#include "report/sections/call_notes.h"
#include "report/sections/nccl_gpu.h"
#include "report/sections/ratio.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t lines_on_screen = 40;

// A line, and what its shares are shares of.
struct Line {
    Row row;
    const Call* call = nullptr;
    bool is_whole_call = false;  // all sizes together
    double ranks = 1;
    double wall_ns = 0;
    double mpi_ns = 0;
    std::optional<double> bus_factor;
    bool is_gpu_time_at_most = false;  // known by events

    // NCCL's calls return before their operation is done: bytes by their own time are no bandwidth, by the GPU's they
    // are.
    Value bandwidth(double factor) const {
        const bool is_nccl = call->family == Family::nccl;
        const std::uint64_t bytes = is_nccl ? row.sum.gpu_bytes : row.sum.bytes;
        const std::uint64_t ns = is_nccl ? row.sum.gpu_ns : row.sum.time_ns;
        if (bytes == 0 || ns == 0 || (!is_nccl && call->is_posted)) return {};
        return static_cast<double>(bytes) * factor / (static_cast<double>(ns) / 1e9);
    }
    bool is_counted() const { return call->treatment != Treatment::timed; }
    bool is_timed() const { return !is_counted() && !row.sum.is_untimed(); }
    double time_ns() const { return static_cast<double>(row.sum.time_ns); }
    double calls() const { return static_cast<double>(row.sum.calls); }
    bool has_size() const {
        return !row.is_unfinished && row.sum.calls != 0 && (row.sum.bytes != 0 || carries_messages(call->traffic));
    }
};

// Rows are sorted by call. Number of ranks, largest rank and percentiles of single rows do not add up.
std::vector<Row> add_up_sizes(const std::vector<Row>& rows) {
    std::vector<Row> sums;
    for (const Row& row : rows) {
        if (sums.empty() || sums.back().sum.call != row.sum.call)
            sums.push_back({.sum = {.call = row.sum.call}, .p05_ns = {}, .p50_ns = {}, .p99_ns = {}});
        Row& total = sums.back();
        add_sum(total.sum, row.sum);
        total.requests += row.requests;
        total.in_flight_ns += row.in_flight_ns;
        total.blocked_ns += row.blocked_ns;
        total.inside_ns += row.inside_ns;
        total.waiting_ns += row.waiting_ns;
        total.judged_ns += row.judged_ns;
        total.compared_ns += row.compared_ns;
    }
    return sums;
}

std::vector<Line> lines_of(const Job& job, const Question& question) {
    Line common;
    std::uint32_t ranks = 0;
    for (const Rank& rank : job.ranks) {
        const auto& asked = question.ranks;
        if (!rank.has_profile || (!asked.empty() && !std::binary_search(asked.begin(), asked.end(), rank.rank)))
            continue;
        ++ranks;
        common.wall_ns += static_cast<double>(rank.recorded_ns());
        common.mpi_ns += static_cast<double>(rank.inside_ns());
    }
    common.ranks = std::max(1u, ranks);
    common.is_whole_call = question.by == "call";
    std::vector<Row> rows = rows_of(job, question.ranks);
    if (common.is_whole_call) rows = add_up_sizes(rows);
    for (Row& row : unfinished_rows(job, question.ranks)) rows.push_back(std::move(row));
    common.is_gpu_time_at_most = job.gpu.ranks_by_events != 0;
    const BusFactors factors(job, !question.ranks.empty());
    std::vector<Line> lines;
    for (Row& row : rows) {
        Line line = common;
        line.call = &job.calls[row.sum.call];
        line.row = std::move(row);
        if (!line.row.is_unfinished)
            line.bus_factor =
                factors.of(line.row.sum.call, line.is_whole_call ? std::nullopt : std::optional(line.row.sum.bin));
        lines.push_back(std::move(line));
    }
    return lines;
}

// Columns that would say nothing are left to csv and json.
struct Interest {
    bool buffers = false;
    bool errors = false;
    bool ranks = false;
    bool extremes = false;
    bool percentiles = false;
    bool background = false;
    bool requests = false;
    bool waiting = false;
    bool gpu = false;
};

Interest interest_of(const std::vector<Line>& lines) {
    Interest interest;
    for (const Line& line : lines) {
        interest.buffers |= line.row.sum.buffer != Buffer::host;
        interest.errors |= line.row.sum.errors != 0;
        interest.ranks |= line.row.ranks != 0 && line.row.ranks < line.ranks;
        interest.extremes |= line.row.sum.max_ns != 0;
        interest.percentiles |= line.row.p50_ns.has_value();
        interest.background |= line.row.sum.other_thread_calls != 0;
        interest.requests |= line.row.in_flight_ns != 0;
        interest.waiting |= line.row.judged_ns != 0;
        interest.gpu |= line.row.sum.gpu_ns != 0;
    }
    return interest;
}

std::vector<Field<Line>> call_fields(const Interest& interest, bool is_for_screen) {
    using L = const Line&;
    return {
        {{.id = "call", .title = "CALL"},
         [is_for_screen](L l) {
             return l.call->name + std::string(l.row.is_unfinished && is_for_screen ? unfinished_mark : "");
         }},

        {{.id = "bin_max_bytes", .title = {}, .unit = Unit::bytes, .only_data = true},
         [](L l) {
             return l.is_whole_call || l.is_counted() || l.row.is_unfinished ? Value()
                                                                             : Value(bin_max_bytes(l.row.sum.bin));
         }},
        {{.id = "avg_bytes", .title = "AVG SIZE", .unit = Unit::bytes},
         [](L l) { return l.has_size() ? Value(static_cast<double>(l.row.sum.bytes) / l.calls()) : Value(); }},
        {{.id = "buffer", .title = "BUFFER", .only_data = !interest.buffers},
         // Of NCCL's calls nobody asks.
         [](L l) {
             const bool is_known = l.has_size() && l.call->family == Family::mpi && !l.is_whole_call;
             return is_known && !l.row.is_unfinished ? Value(std::string(name_of(l.row.sum.buffer))) : Value();
         }},
        {{.id = "traffic", .title = {}, .only_data = true}, [](L l) { return std::string(name_of(l.call->traffic)); }},
    };
}

std::vector<Field<Line>> time_fields(const Job& job, const Interest& interest) {
    const Vocabulary& words = vocabulary_of(job);
    using L = const Line&;
    return {
        {{.id = "all_calls", .title = "CALLS", .unit = Unit::count, .only_screen = true},
         [](L l) { return l.row.sum.calls; }},
        {{.id = "calls", .title = {}, .unit = Unit::count, .only_data = true}, [](L l) { return l.calls() / l.ranks; }},
        {{.id = "time_ns", .title = "TIME", .unit = Unit::time, .same_unit = true},
         [](L l) { return l.is_timed() ? Value(l.time_ns() / l.ranks) : Value(); }},
        {{.id = "wall_share", .title = "%WALL", .unit = Unit::share},
         [](L l) { return l.is_timed() ? ratio(l.time_ns(), l.wall_ns) : Value(); }},
        {{.id = "mpi_share", .title = std::string(words.share), .unit = Unit::share, .drop = 11},
         [](L l) { return l.is_timed() ? ratio(l.time_ns(), l.mpi_ns) : Value(); }},
        {{.id = "bar", .title = {}, .unit = Unit::share, .draw = Draw::bar, .drop = 12, .only_screen = true},
         [](L l) { return l.is_timed() ? ratio(l.time_ns(), l.wall_ns) : Value(); }},
        {{.id = "per_call_ns", .title = "PER CALL", .unit = Unit::time, .drop = 1},
         [](L l) { return l.is_timed() ? ratio(l.time_ns(), static_cast<double>(l.row.sum.timed_calls())) : Value(); }},
        {{.id = "gpu_ns",
          .title = gpu_sum_heading(job, "GPU TIME"),
          .unit = Unit::time,
          .same_unit = true,
          .only_data = !interest.gpu},
         [](L l) { return l.row.sum.gpu_ns ? Value(static_cast<double>(l.row.sum.gpu_ns) / l.ranks) : Value(); }},
        {{.id = "waiting_share", .title = "WAITING", .unit = Unit::share, .drop = 2, .only_data = !interest.waiting},
         [](L l) { return waiting_share(l.row.waiting_ns, l.row.judged_ns, l.row.sum.time_ns); }},
        {{.id = "min_ns", .title = "MIN", .unit = Unit::time, .drop = 8, .only_data = !interest.extremes},
         [](L l) { return value_of(l.row.sum.min_ns); }},
        {{.id = "p50_ns", .title = "P50", .unit = Unit::time, .drop = 3, .only_data = !interest.percentiles},
         [](L l) { return known(l.row.p50_ns); }},
        {{.id = "p99_ns", .title = "P99", .unit = Unit::time, .drop = 4, .only_data = !interest.percentiles},
         [](L l) { return known(l.row.p99_ns); }},
        {{.id = "max_ns", .title = "MAX", .unit = Unit::time, .drop = 6, .only_data = !interest.extremes},
         [](L l) { return known(l.row.sum.max_ns); }},
    };
}

std::vector<Field<Line>> bandwidth_fields() {
    using L = const Line&;
    return {
        {{.id = "algbw_bytes_per_s", .title = "ALGBW", .unit = Unit::rate, .drop = 10},
         [](L l) { return l.bandwidth(1); }},
        {{.id = "busbw_bytes_per_s", .title = "BUSBW", .unit = Unit::rate, .drop = 12},
         [](L l) {
             const bool is_known = l.call->family != Family::nccl || !l.is_gpu_time_at_most;
             return l.bus_factor && is_known ? l.bandwidth(*l.bus_factor) : Value();
         }},
        {{.id = "bus_factor", .title = {}, .only_data = true},
         [](L l) { return l.bus_factor ? Value(*l.bus_factor) : Value(); }},
    };
}

std::vector<Field<Line>> rank_fields(const Interest& interest) {
    using L = const Line&;
    return {
        {{.id = "errors", .title = "ERRORS", .unit = Unit::count, .only_data = !interest.errors},
         [](L l) { return l.row.sum.errors; }},
        {{.id = "ranks", .title = "RANKS", .unit = Unit::count, .drop = 9, .only_data = !interest.ranks},
         [](L l) { return l.row.ranks ? Value(std::uint64_t{l.row.ranks}) : Value(); }},
        {{.id = "largest_ns", .title = {}, .unit = Unit::time, .only_data = true},
         [](L l) { return l.row.ranks && l.is_timed() ? Value(l.row.largest_ns) : Value(); }},
        {{.id = "largest_rank", .title = {}, .unit = Unit::rank, .only_data = true},
         [](L l) { return l.row.ranks && l.is_timed() ? Value(std::uint64_t{l.row.largest_rank}) : Value(); }},
        {{.id = "other_thread_share",
          .title = "%BACKGR",
          .unit = Unit::share,
          .drop = 7,
          .only_data = !interest.background},
         [](L l) {
             return l.is_timed() ? ratio(static_cast<double>(l.row.sum.other_thread_ns), l.time_ns()) : Value();
         }},
    };
}

std::vector<Field<Line>> request_fields(const Interest& interest) {
    using L = const Line&;
    return {
        {{.id = "waited_ns", .title = "WAIT TIME", .unit = Unit::time, .drop = 5, .only_data = !interest.requests},
         [](L l) { return l.row.in_flight_ns ? Value(static_cast<double>(l.row.blocked_ns) / l.ranks) : Value(); }},
        {{.id = "overlap_share", .title = "%OVERLAP", .unit = Unit::share, .drop = 5, .only_data = !interest.requests},
         [](L l) { return known(l.row.overlapped()); }},
        {{.id = "requests", .title = {}, .unit = Unit::count, .only_data = true}, [](L l) { return l.row.requests; }},
        {{.id = "waiting_ns", .title = {}, .unit = Unit::time, .only_data = true},
         [](L l) { return l.row.judged_ns ? Value(static_cast<double>(l.row.waiting_ns) / l.ranks) : Value(); }},
    };
}

std::vector<Field<Line>> total_fields() {
    using L = const Line&;
    return {
        {{.id = "total_calls", .title = {}, .unit = Unit::count, .only_data = true},
         [](L l) { return l.row.sum.calls; }},
        {{.id = "total_bytes", .title = {}, .unit = Unit::bytes, .only_data = true},
         [](L l) { return l.row.sum.bytes; }},
        {{.id = "total_time_ns", .title = {}, .unit = Unit::time, .only_data = true},
         [](L l) { return l.row.sum.time_ns; }},
        {{.id = "unfinished", .title = {}, .only_data = true},
         [](L l) { return std::string(l.row.is_unfinished ? "yes" : "no"); }},
    };
}

std::vector<Field<Line>> fields_of(const Job& job, const Interest& interest, bool is_for_screen) {
    return side_by_side<Line>({call_fields(interest, is_for_screen), time_fields(job, interest), bandwidth_fields(),
                               rank_fields(interest), request_fields(interest), total_fields()});
}

std::string what_is_shown(const Job& job, const Question& question, double ranks) {
    if (question.ranks.size() == 1) return fmt::format("CALLS and TIME: rank {} of {}", question.ranks[0], job.size);
    if (!question.ranks.empty())
        return fmt::format("CALLS: ranks {0} together; TIME: mean of ranks {0}", rank_list(question.ranks));
    if (ranks < 2)
        return fmt::format("CALLS and TIME: rank {} of {}", job.ranks.empty() ? 0 : job.ranks.front().rank, job.size);
    return fmt::format("CALLS: all ranks together; TIME: mean of {} ranks", human_count(ranks));
}

}  // namespace

Result<std::vector<Table>> calls(const Analysed& all, const Question& question) {
    const Job& job = all.job;
    std::vector<Line> lines = lines_of(job, question);
    const double ranks = lines.empty() ? 1 : lines.front().ranks;
    const Interest interest = interest_of(lines);
    Table table = table_of("calls", fields_of(job, interest, question.is_for_screen), lines);
    if (auto ok = sort_rows(table, "calls"); !ok) return tl::make_unexpected(ok.error());
    if (auto ok = sort_rows(table, question.sort.empty() ? "time" : question.sort); !ok)
        return tl::make_unexpected(ok.error());

    const std::size_t most = question.top.value_or(question.is_for_screen ? lines_on_screen : table.rows.size());
    const std::size_t left_out = keep_top(table, most);
    Note shown(what_is_shown(job, question, ranks));
    if (interest.extremes) shown.parts.push_back({"PER CALL and the columns behind it: individual calls"});
    table.notes.push_back(std::move(shown));
    if (interest.waiting)
        table.notes.push_back(Note::on(
            "waiting_share",
            "an upper bound, the share of TIME above the fastest call of the same size and communicator size. Not given for "
            "fewer than 20 calls, file I/O, and calls that only post requests; nearly all of MPI_Wait is waiting"));
    if (interest.waiting && !job.comparison.calls.empty())
        table.notes.push_back(Note::on("waiting_share", std::string(waiting_is_known)));
    if (interest.requests)
        table.notes.push_back(
            Note::on("waited_ns",
                     "time in MPI_Wait, MPI_Test and the like, split evenly among the requests that a call completes"));
    const bool has_samples =
        std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.call->is_sampled; });
    std::set<std::uint16_t> of_calls;
    for (const Line& line : lines) of_calls.insert(line.row.sum.call);
    note_exchanges(table.notes, job, of_calls);
    note_replays(table.notes, job);
    if (std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.row.is_unfinished; }))
        table.notes.push_back(std::string(unfinished_note));
    if (has_samples) table.notes.push_back("MPI_Test and MPI_Probe are sampled: 1 in 16 is timed");
    if (job.has(Family::nccl)) table.notes.push_back(host_time_note(job));
    if (left_out) table.notes.push_back(fmt::format("{} more rows: --top {}", left_out, left_out + table.rows.size()));
    if (job.is_text) table.notes.push_back("times are from mpitrace's text, rounded to 1 ms");
    return std::vector{std::move(table)};
}

}  // namespace mpiprof::report
