// The totals of a running job and what changed in them.
#include "report/analysis/live.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "report/analysis/arrivals.h"
#include "report/analysis/hang.h"
#include "report/model/ratio.h"

namespace mpiprof::report {
namespace {

// What came since the last look; numbers only grow, but a file may be seen older than it was.
std::uint64_t grown(std::uint64_t now, std::uint64_t before) { return now > before ? now - before : 0; }

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

}  // namespace

LiveTotals live_totals(const Job& job) {
    LiveTotals totals;
    for (const Rank& rank : job.ranks) {
        totals.wall_ns += rank.recorded_ns();
        totals.inside_ns += std::min(rank.inside_ns(), rank.recorded_ns());
        totals.calls += rank.calls;
        totals.bytes += rank.message_bytes;
        totals.elapsed_ns = std::max(totals.elapsed_ns, rank.elapsed_ns);
    }
    return totals;
}

LiveRates live_rates(const Job& now, const Job* before) {
    const LiveTotals totals = live_totals(now);
    LiveRates rates;
    rates.share_inside = ratio_of(totals.inside_ns, totals.wall_ns).value_or(0);
    if (!before) return rates;
    const LiveTotals old = live_totals(*before);
    rates.share_inside_now = ratio_of(grown(totals.inside_ns, old.inside_ns), grown(totals.wall_ns, old.wall_ns));
    const double seconds = static_cast<double>(grown(totals.elapsed_ns, old.elapsed_ns)) / 1e9;
    if (seconds <= 0) return rates;
    rates.calls_per_s = static_cast<double>(grown(totals.calls, old.calls)) / seconds;
    if (const std::uint64_t bytes = grown(totals.bytes, old.bytes); bytes != 0)
        rates.bytes_per_s = static_cast<double>(bytes) / seconds;
    return rates;
}

LiveStates live_states(const Job& job) {
    LiveStates states;
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile) continue;
        if (rank.state == State::finalized && !rank.is_in_finalize)
            ++states.finalized;
        else if (rank.is_in_finalize || rank.life == Life::running)
            ++states.running;
        else if (rank.state == State::running && rank.life == Life::unknown)
            ++states.out_of_sight;
        else
            ++states.ended;
    }
    states.without_profile = job.expected() - std::min(job.expected(), job.profiles());
    return states;
}

std::optional<LongestWait> longest_wait(const Job& job) {
    const Standing* longest = nullptr;
    for (const Standing& standing : job.standings)
        if (standing.is_inside && standing.since_ns && (!longest || standing.for_ns > longest->for_ns))
            longest = &standing;
    if (!longest || longest->for_ns < worth_a_word_ns) return std::nullopt;
    LongestWait wait{.call = *longest->call, .for_ns = longest->for_ns, .ranks = {}, .missing = {}};
    for (const Standing& standing : job.standings)
        if (standing.is_inside && standing.call == longest->call) wait.ranks.push_back(standing.rank);
    for (const Arrival& arrival : arrivals_of(job))
        if (arrival.call == wait.call && !arrival.missing.empty()) {
            wait.missing = arrival.missing;
            break;
        }
    return wait;
}

std::vector<LiveCall> live_calls(const Job& now, const Job* before) {
    const LiveTotals totals = live_totals(now);
    const LiveTotals old = before ? live_totals(*before) : LiveTotals{};
    const auto times = times_of(now);
    std::map<Key, std::uint64_t> old_times, old_calls;
    if (before) {
        old_times = times_of(*before);
        for (const Row& row : before->rows)
            old_calls[{before->calls[row.sum.call].name, row.sum.bin, row.sum.buffer}] = row.sum.calls;
    }
    const auto seconds = static_cast<double>(grown(totals.elapsed_ns, old.elapsed_ns)) / 1e9;
    std::vector<LiveCall> lines;
    for (const Row& row : now.rows) {
        const Call& call = now.calls[row.sum.call];
        if (call.treatment == Treatment::counted) continue;
        const Key key{call.name, row.sum.bin, row.sum.buffer};
        LiveCall line{.call = call.name,
                      .row = &row,
                      .time_ns = times.at(key),
                      .ranks = now.profiles(),
                      .wall_ns = totals.wall_ns,
                      .per_second = {},
                      .share_now = {}};
        if (before && seconds > 0) {
            line.per_second = static_cast<double>(grown(row.sum.calls, old_calls[key])) / seconds;
            line.share_now = ratio_of(grown(line.time_ns, old_times[key]), grown(totals.wall_ns, old.wall_ns));
        }
        lines.push_back(std::move(line));
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const LiveCall& a, const LiveCall& b) { return a.time_ns > b.time_ns; });
    return lines;
}

}  // namespace mpiprof::report
