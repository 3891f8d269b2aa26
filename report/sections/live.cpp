// The totals of a running job and what changed in them.
#include "report/sections/live.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "report/analysis/arrivals.h"
#include "report/model/units.h"
#include "report/sections/headline.h"
#include "report/sections/section.h"
#include "report/sections/wording.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t rows_shown = 12;
constexpr std::uint64_t worth_a_word_ns = 1'000'000'000;

struct Totals {
    std::uint64_t wall_ns = 0;  // of all ranks, without pauses
    std::uint64_t inside_ns = 0;
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t elapsed_ns = 0;  // of the rank that runs longest
};

Totals totals_of(const Job& job) {
    Totals totals;
    for (const Rank& rank : job.ranks) {
        totals.wall_ns += rank.recorded_ns();
        totals.inside_ns += std::min(rank.inside_ns(), rank.recorded_ns());
        totals.calls += rank.calls;
        totals.bytes += rank.message_bytes;
        totals.elapsed_ns = std::max(totals.elapsed_ns, rank.elapsed_ns);
    }
    return totals;
}

// What came since the last look; numbers only grow, but a file may be seen older than it was.
std::uint64_t grown(std::uint64_t now, std::uint64_t before) { return now > before ? now - before : 0; }

std::optional<double> ratio(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return std::nullopt;
    return static_cast<double>(part) / static_cast<double>(whole);
}

std::string states_text(const Job& job) {
    std::uint32_t running = 0, ended = 0, finalized = 0, unknown = 0;
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile) continue;
        if (rank.state == State::finalized && !rank.is_in_finalize)
            ++finalized;
        else if (rank.is_in_finalize || rank.life == Life::running)
            ++running;
        else if (rank.state == State::running && rank.life == Life::unknown)
            ++unknown;
        else
            ++ended;
    }
    std::vector<std::string> parts;
    const auto add = [&](std::uint32_t ranks, const char* what) {
        if (ranks) parts.push_back(fmt::format("{} {}", ranks, what));
    };
    add(running, "running");
    add(unknown, "out of sight");
    add(finalized, "finalized");
    add(ended, "ended without MPI_Finalize");
    add(job.expected() - std::min(job.expected(), job.profiles()), "without a profile");
    return fmt::format("{}", fmt::join(parts, ", "));
}

// "ranks 0-6 and 8-15 in MPI_Barrier for 48 s"; empty while nobody is in a call for long.
std::string longest_text(const Job& job) {
    const Standing* longest = nullptr;
    for (const Standing& standing : job.standings)
        if (standing.is_inside && standing.since_ns && (!longest || standing.for_ns > longest->for_ns))
            longest = &standing;
    if (!longest || longest->for_ns < worth_a_word_ns) return "";
    std::vector<std::uint32_t> ranks;
    for (const Standing& standing : job.standings)
        if (standing.is_inside && standing.call == longest->call) ranks.push_back(standing.rank);
    std::string text = fmt::format("{} {} in {} for {}", ranks.size() == 1 ? "rank" : "ranks", rank_list(ranks, 5),
                                   job.calls[*longest->call].name, human_time(static_cast<double>(longest->for_ns)));
    for (const Arrival& arrival : arrivals_of(job))
        if (arrival.call == job.calls[*longest->call].name && !arrival.missing.empty())
            return text +
                   fmt::format(", where {} {} not arrived",
                               (arrival.missing.size() == 1 ? "rank " : "ranks ") + rank_list(arrival.missing, 5),
                               arrival.missing.size() == 1 ? "has" : "have");
    return text;
}

struct Line {
    std::string call;
    const Row* row = nullptr;
    std::uint64_t time_ns = 0;  // of the row, and of calls that have not returned
    std::uint32_t ranks = 0;
    std::uint64_t wall_ns = 0;
    std::optional<double> per_second;
    std::optional<double> share_now;
};

using Key = std::tuple<std::string, std::uint8_t, Buffer>;

// The time of each row, with that of the calls that ranks are in: their sizes are not known yet, so it stands with the
// size that is called most.
std::map<Key, std::uint64_t> times_of(const Job& job) {
    std::map<std::uint16_t, const Row*> most_called;
    std::map<Key, std::uint64_t> times;
    const auto key_of = [&](const Row& row) { return Key{job.calls[row.sum.call].name, row.sum.bin, row.sum.buffer}; };
    for (const Row& row : job.rows) {
        times[key_of(row)] = row.sum.time_ns;
        const Row*& most = most_called[row.sum.call];
        if (!most || row.sum.calls > most->sum.calls) most = &row;
    }
    for (const Standing& standing : job.standings)
        if (standing.is_inside && standing.since_ns)
            if (const auto row = most_called.find(*standing.call); row != most_called.end())
                times[key_of(*row->second)] += standing.for_ns;
    return times;
}

std::vector<Line> lines_of(const Job& now, const Job* before) {
    const Totals totals = totals_of(now);
    const Totals old = before ? totals_of(*before) : Totals{};
    const auto times = times_of(now);
    std::map<Key, std::uint64_t> old_times, old_calls;
    if (before) {
        old_times = times_of(*before);
        for (const Row& row : before->rows)
            old_calls[{before->calls[row.sum.call].name, row.sum.bin, row.sum.buffer}] = row.sum.calls;
    }
    const auto seconds = static_cast<double>(grown(totals.elapsed_ns, old.elapsed_ns)) / 1e9;
    std::vector<Line> lines;
    for (const Row& row : now.rows) {
        const Call& call = now.calls[row.sum.call];
        if (call.treatment == Treatment::counted) continue;
        const Key key{call.name, row.sum.bin, row.sum.buffer};
        Line line{.call = call.name,
                  .row = &row,
                  .time_ns = times.at(key),
                  .ranks = now.profiles(),
                  .wall_ns = totals.wall_ns,
                  .per_second = {},
                  .share_now = {}};
        if (before && seconds > 0) {
            line.per_second = static_cast<double>(grown(row.sum.calls, old_calls[key])) / seconds;
            line.share_now = ratio(grown(line.time_ns, old_times[key]), grown(totals.wall_ns, old.wall_ns));
        }
        lines.push_back(std::move(line));
    }
    std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.time_ns > b.time_ns; });
    return lines;
}

Table call_table(const Job& now, const Job* before) {
    using L = const Line&;
    const std::vector<Field<Line>> fields{
        {{.id = "call", .title = "CALL"}, [](L l) { return l.call; }},
        {{.id = "mean_bytes", .title = "AVG SIZE", .unit = Unit::bytes},
         [](L l) {
             return l.row->sum.bytes
                        ? Value(static_cast<double>(l.row->sum.bytes) / static_cast<double>(l.row->sum.calls))
                        : Value();
         }},
        {{.id = "calls", .title = "CALLS", .unit = Unit::count}, [](L l) { return l.row->sum.calls; }},
        {{.id = "calls_per_second", .title = "NOW/S", .unit = Unit::count}, [](L l) { return known(l.per_second); }},
        {{.id = "time_ns", .title = "TIME/RANK", .unit = Unit::time},
         [](L l) { return static_cast<double>(l.time_ns) / std::max(1u, l.ranks); }},
        {{.id = "wall_share", .title = "%WALL", .unit = Unit::share},
         [](L l) { return known(ratio(l.time_ns, l.wall_ns)); }},
        {{.id = "wall_share_now", .title = "%NOW", .unit = Unit::share}, [](L l) { return known(l.share_now); }},
        {{.id = "bar", .title = {}, .unit = Unit::share, .draw = Draw::bar, .drop = 1, .only_screen = true},
         [](L l) { return known(l.share_now ? l.share_now : ratio(l.time_ns, l.wall_ns)); }},
    };
    Table table = table_of("calls", fields, lines_of(now, before));
    if (const std::size_t left_out = keep_top(table, rows_shown))
        table.notes.push_back(fmt::format("{} more", left_out));
    return table;
}

std::string share_text(const Job& now, const Job* before) {
    const Totals totals = totals_of(now);
    std::string text = human_share(ratio(totals.inside_ns, totals.wall_ns).value_or(0)) + " inside MPI";
    if (!before) return text;
    const Totals old = totals_of(*before);
    const auto share = ratio(grown(totals.inside_ns, old.inside_ns), grown(totals.wall_ns, old.wall_ns));
    if (share) text += fmt::format(" ({} now)", human_share(std::min(1.0, *share)));
    return text;
}

std::string rate_text(const Job& now, const Job* before) {
    if (!before) return "";
    const Totals totals = totals_of(now), old = totals_of(*before);
    const double seconds = static_cast<double>(grown(totals.elapsed_ns, old.elapsed_ns)) / 1e9;
    if (seconds <= 0) return "";
    const std::string calls = human_count(static_cast<double>(grown(totals.calls, old.calls)) / seconds) + " calls/s";
    const std::uint64_t bytes = grown(totals.bytes, old.bytes);
    return bytes ? calls + ", " + human_rate(static_cast<double>(bytes) / seconds) : calls;
}

Table headline(const Job& now, const Job* before) {
    HeadlineTable lines;
    const Totals totals = totals_of(now);
    lines.add(1, "command", now.command, now.command.empty() ? now.executable : now.command);
    lines.add(2, "job", now.job, now.job.empty() ? "" : "job " + now.job);
    lines.add(2, "ranks", std::uint64_t{now.size}, plural(now.size, "rank", "ranks"));
    lines.add(2, "elapsed_ns", totals.elapsed_ns,
              human_time(static_cast<double>(totals.elapsed_ns)) + " since MPI_Init");
    lines.add(3, "states", states_text(now), states_text(now));
    lines.add(4, "share", share_text(now, before), share_text(now, before));
    lines.add(4, "rates", rate_text(now, before), rate_text(now, before));
    return lines.take();
}

}  // namespace

std::vector<Table> live_tables(const Job& now, const Job* before) {
    Table head = headline(now, before);
    if (const std::string longest = longest_text(now); !longest.empty())
        head.notes.push_back(longest + "; mpiprof-report hang tells more");
    std::vector<Table> tables{std::move(head), call_table(now, before)};
    for (Table& table : tables) word(table, now);
    return tables;
}

std::string live_line(const Job& now, const Job* before) {
    std::vector<std::string> parts{human_time(static_cast<double>(totals_of(now).elapsed_ns)), states_text(now),
                                   share_text(now, before)};
    for (std::string text : {rate_text(now, before), longest_text(now)})
        if (!text.empty()) parts.push_back(std::move(text));
    return worded(fmt::format("{}", fmt::join(parts, "; ")), now);
}

std::string final_line(const Job& job) {
    return worded(fmt::format("{} has ended: {}; {} since MPI_Init, {}", job.job.empty() ? "the job" : "job " + job.job,
                              states_text(job), human_time(static_cast<double>(totals_of(job).elapsed_ns)),
                              share_text(job, nullptr)),
                  job);
}

}  // namespace mpiprof::report
