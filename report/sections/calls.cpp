// calls: every call by message size (or summed up, --by call): how often all ranks together made it, and its time as
// the mean over ranks; with --rank only theirs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/analysis/analysed.h"
#include "report/analysis/bus_bandwidth.h"
#include "report/analysis/figures.h"
#include "report/model/sums.h"
#include "report/model/units.h"
#include "report/sections/call_columns.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"
#include "report/sections/words_of_gpu_times.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t lines_on_screen = 40;

struct Line : CallLine {
    Row row;
    bool is_whole_call = false;  // all sizes together
    std::optional<double> bus_factor;
    bool is_gpu_time_at_most = false;  // known by events
    Series by_octave;                  // of durations: [i] calls took from 2^i to 2^(i+1) ns; empty: not known

    // NCCL's calls return before their operation is done: bytes by their own time are no bandwidth, by the GPU's they
    // are.
    Value bandwidth(double factor) const {
        const bool is_nccl = call->family == Family::nccl;
        const std::uint64_t moved = is_nccl ? row.sum.gpu_bytes : bytes;
        const std::uint64_t ns = is_nccl ? row.sum.gpu_ns : time_ns;
        if (moved == 0 || ns == 0 || (!is_nccl && call->is_posted)) return {};
        return static_cast<double>(moved) * factor / (static_cast<double>(ns) / 1e9);
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

// Of one row, or of a call all of whose sizes have them.
Series octaves_of(const Job& job, const Line& line) {
    if (!line.is_whole_call) {
        const auto counts = job.calls_by_octave(line.row);
        return {counts.begin(), counts.end()};
    }
    Series sum;
    for (const Row& row : job.rows) {
        if (row.sum.call != line.row.sum.call) continue;
        const auto counts = job.calls_by_octave(row);
        if (counts.empty()) return {};
        if (sum.size() < counts.size()) sum.resize(counts.size());
        for (std::size_t i = 0; i < counts.size(); ++i) sum[i] += static_cast<double>(counts[i]);
    }
    return sum;
}

// The ranks in question: how many, and what shares of their time are shares of.
CallLine whole_of(const Job& job, const Question& question) {
    CallLine whole;
    std::uint32_t ranks = 0;
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile || !question.is_about(rank.rank)) continue;
        ++ranks;
        whole.wall_ns += static_cast<double>(rank.recorded_ns());
        whole.mpi_ns += static_cast<double>(rank.inside_ns());
    }
    whole.ranks = std::max(1u, ranks);
    return whole;
}

std::vector<Line> lines_of(const Job& job, const Question& question) {
    const CallLine whole = whole_of(job, question);
    const bool are_whole_calls = question.by == "call";
    std::vector<Row> rows = rows_of(job, question.ranks);
    if (are_whole_calls) rows = add_up_sizes(rows);
    for (Row& row : unfinished_rows(job, question.ranks)) rows.push_back(std::move(row));
    const BusFactors factors(job, !question.ranks.empty());
    std::vector<Line> lines;
    for (Row& row : rows) {
        Line& line = lines.emplace_back(Line{line_of(row, job), std::move(row), are_whole_calls, {}, false, {}});
        line.ranks = whole.ranks;
        line.wall_ns = whole.wall_ns;
        line.mpi_ns = whole.mpi_ns;
        line.is_gpu_time_at_most = job.gpu.ranks_by_events != 0;
        const Sum& sum = line.row.sum;
        if (!are_whole_calls && !line.is_unfinished && line.call->treatment == Treatment::timed) line.bin = sum.bin;
        if (question.ranks.empty() && !line.is_unfinished) line.by_octave = octaves_of(job, line);
        if (!line.is_unfinished)
            line.bus_factor = factors.of(sum.call, are_whole_calls ? std::nullopt : std::optional(sum.bin));
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
    // Octaves of durations, of all lines together: from, and up to but not including.
    std::size_t first_octave = SIZE_MAX, end_octave = 0;
    bool background = false;
    bool requests = false;
    bool waiting = false;
    bool gpu = false;
};

Interest interest_of(const std::vector<Line>& lines) {
    Interest interest;
    for (const Line& line : lines) {
        interest.buffers |= line.row.sum.buffer != Buffer::host;
        interest.errors |= line.errors != 0;
        interest.ranks |= line.row.ranks != 0 && line.row.ranks < line.ranks;
        interest.extremes |= line.max_ns != 0;
        interest.percentiles |= line.row.p50_ns.has_value();
        if (!line.by_octave.empty()) {
            const auto first = std::ranges::find_if(line.by_octave, [](double calls) { return calls != 0; });
            interest.first_octave = std::min<std::size_t>(interest.first_octave, first - line.by_octave.begin());
            interest.end_octave = std::max(interest.end_octave, line.by_octave.size());
        }
        interest.background |= line.row.sum.other_thread_calls != 0;
        interest.requests |= line.row.in_flight_ns != 0;
        interest.waiting |= line.judged_ns != 0;
        interest.gpu |= line.row.sum.gpu_ns != 0;
    }
    return interest;
}

std::vector<Field<Line>> call_fields(const Interest& interest, bool is_for_screen) {
    using L = const Line&;
    return side_by_side<Line>({
        columns::call(is_for_screen),
        columns::bin(),
        columns::size(),
        {{.id = "buffer", .title = "BUFFER", .only_data = !interest.buffers},
         // Of NCCL's calls nobody asks.
         [](L l) {
             const bool is_known = l.has_size() && l.call->family == Family::mpi && !l.is_whole_call;
             return is_known ? Value(std::string(name_of(l.row.sum.buffer))) : Value();
         }},
        columns::traffic(),
    });
}

std::vector<Field<Line>> time_fields(const Job& job, const Interest& interest) {
    using L = const Line&;
    return side_by_side<Line>({
        columns::calls(),
        columns::time(),
        columns::wall_share(),
        columns::mpi_share(vocabulary_of(job), 11),
        columns::wall_bar(12),
        columns::per_call(1),
        {{.id = "gpu_ns",
          .title = gpu_sum_heading(job, "GPU TIME"),
          .unit = Unit::time,
          .same_unit = true,
          .only_data = !interest.gpu},
         [](L l) { return l.row.sum.gpu_ns ? Value(l.mean(l.row.sum.gpu_ns)) : Value(); }},
        columns::waiting(2, !interest.waiting),
        {{.id = "min_ns", .title = "MIN", .unit = Unit::time, .drop = 8, .only_data = !interest.extremes},
         [](L l) { return value_of(l.min_ns); }},
        {{.id = "p50_ns", .title = "P50", .unit = Unit::time, .drop = 3, .only_data = !interest.percentiles},
         [](L l) { return known(l.row.p50_ns); }},
        {{.id = "p99_ns", .title = "P99", .unit = Unit::time, .drop = 4, .only_data = !interest.percentiles},
         [](L l) { return known(l.row.p99_ns); }},
        {{.id = "max_ns", .title = "MAX", .unit = Unit::time, .drop = 6, .only_data = !interest.extremes},
         [](L l) { return known(l.max_ns); }},
    });
}

double octave_ns(std::size_t octave) { return std::ldexp(1.0, static_cast<int>(octave)); }

// The same durations lie below each other, so that lines can be compared.
std::vector<Field<Line>> duration_fields(const Interest& interest, bool are_shown) {
    if (!are_shown || interest.end_octave == 0) return {};
    const auto counts = [first = interest.first_octave, end = interest.end_octave](const Line& l) {
        if (l.by_octave.empty()) return Value();
        Series shown(end - first, 0.0);
        std::copy(l.by_octave.begin() + static_cast<std::ptrdiff_t>(first), l.by_octave.end(), shown.begin());
        return Value(std::move(shown));
    };
    return {
        {{.id = "durations", .title = "DURATIONS", .draw = Draw::histogram, .drop = 1, .only_screen = true}, counts}};
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
        {in_data("bus_factor"), [](L l) { return l.bus_factor ? Value(*l.bus_factor) : Value(); }},
    };
}

std::vector<Field<Line>> rank_fields(const Interest& interest) {
    using L = const Line&;
    return side_by_side<Line>({
        columns::errors(!interest.errors),
        {{.id = "ranks", .title = "RANKS", .unit = Unit::count, .drop = 9, .only_data = !interest.ranks},
         [](L l) { return l.row.ranks ? Value(std::uint64_t{l.row.ranks}) : Value(); }},
        columns::largest(0, true),
        {{.id = "other_thread_share",
          .title = "%BACKGR",
          .unit = Unit::share,
          .drop = 7,
          .only_data = !interest.background},
         [](L l) { return l.is_timed ? ratio(l.row.sum.other_thread_ns, l.time_ns) : Value(); }},
    });
}

std::vector<Field<Line>> request_fields(const Interest& interest) {
    using L = const Line&;
    return {
        {{.id = "waited_ns", .title = "WAIT TIME", .unit = Unit::time, .drop = 5, .only_data = !interest.requests},
         [](L l) { return l.row.in_flight_ns ? Value(l.mean(l.row.blocked_ns)) : Value(); }},
        {{.id = "overlap_share", .title = "%OVERLAP", .unit = Unit::share, .drop = 5, .only_data = !interest.requests},
         [](L l) { return known(l.row.overlapped()); }},
        {in_data("requests", Unit::count), [](L l) { return l.row.requests; }},
        {in_data("waiting_ns", Unit::time), [](L l) { return l.judged_ns ? Value(l.mean(l.waiting_ns)) : Value(); }},
    };
}

std::vector<Field<Line>> fields_of(const Job& job, const Interest& interest, const Question& question) {
    return side_by_side<Line>({call_fields(interest, question.is_for_screen), time_fields(job, interest),
                               duration_fields(interest, question.wants_details), bandwidth_fields(),
                               rank_fields(interest), request_fields(interest), columns::totals(),
                               columns::unfinished(), Field<Line>{in_data("calls_by_octave"), [](const Line& l) {
                                                                      return l.by_octave.empty() ? Value()
                                                                                                 : Value(l.by_octave);
                                                                  }}});
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
    Table table = table_of("calls", fields_of(job, interest, question), lines);
    if (auto ok = sort_rows(table, "calls"); !ok) return tl::make_unexpected(ok.error());
    if (auto ok = sort_rows(table, question, "time"); !ok) return tl::make_unexpected(ok.error());

    Note shown(what_is_shown(job, question, ranks));
    if (interest.extremes) shown.add({"PER CALL and the columns behind it: individual calls"});
    table.notes.push_back(std::move(shown));
    if (interest.waiting)
        table.notes.push_back(Note::on(
            "waiting_share",
            "an upper bound, the share of TIME above the fastest call of the same size and communicator size, or above what a slow "
            "network takes, where that is less. Not given for "
            "fewer than 20 calls, file I/O, and calls that only post requests; nearly all of MPI_Wait is waiting"));
    if (interest.waiting && !job.comparison.calls.empty())
        table.notes.push_back(Note::on("waiting_share", std::string(waiting_is_known)));
    if (interest.requests)
        table.notes.push_back(
            Note::on("waited_ns",
                     "time in MPI_Wait, MPI_Test and the like, split evenly among the requests that a call completes"));
    if (question.wants_details && interest.end_octave != 0)
        table.notes.push_back(Note::on(
            "durations",
            fmt::format("how many calls took how long: from {} to {}, twice as long from bar to bar; "
                        "the highest bar of each line is its own",
                        human_time(octave_ns(interest.first_octave)), human_time(octave_ns(interest.end_octave)))));
    const bool has_samples = std::ranges::any_of(lines, [](const Line& line) { return line.call->is_sampled; });
    std::set<std::uint16_t> of_calls;
    for (const Line& line : lines) of_calls.insert(line.row.sum.call);
    note_exchanges(table.notes, job, of_calls);
    note_replays(table.notes, job);
    if (std::ranges::any_of(lines, [](const Line& line) { return line.is_unfinished; }))
        table.notes.push_back(std::string(unfinished_note));
    if (has_samples) table.notes.push_back("MPI_Test and MPI_Probe are sampled: 1 in 16 is timed");
    if (job.has(Family::nccl)) table.notes.push_back(host_time_note(job));
    cut(table, question, lines_on_screen);
    if (job.is_text) table.notes.push_back("times are from mpitrace's text, rounded to 1 ms");
    return std::vector{std::move(table)};
}

}  // namespace mpiprof::report
