// The totals of a running job and what changed in them, in words.
#include "report/sections/live.h"

#include <algorithm>

#include "report/analysis/hangs.h"
#include "report/analysis/live.h"
#include "report/model/joined.h"
#include "report/model/units.h"
#include "report/model/visible.h"
#include "report/sections/hang_words.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t rows_shown = 12;
constexpr std::size_t most_items = 5;  // of a list of ranks

std::string states_text(const Job& job) {
    const LiveStates states = live_states(job);
    std::vector<std::string> parts;
    const auto add = [&](std::uint32_t ranks, std::string_view what) {
        if (ranks) parts.push_back(fmt::format("{} {}", ranks, what));
    };
    add(states.running, "running");
    add(states.out_of_sight, "on a node that cannot be checked from here");
    add(states.finalized, "finalized");
    add(states.ended, fmt::format("ended without {}", vocabulary_of(job).finalize));
    add(states.without_profile, "without a profile");
    return joined(parts, ", ");
}

// "ranks 0-6 and 8-15 in MPI_Barrier for 48 s, where rank 7 has not arrived"; empty while nobody is in a call for long.
std::string longest_text(const Job& job) {
    const auto wait = longest_wait(job);
    if (!wait) return "";
    std::string text = fmt::format("{} in {} for {}", ranks_text(wait->ranks, most_items), job.calls[wait->call].name,
                                   human_time(static_cast<double>(wait->for_ns)));
    if (!wait->missing.empty())
        text += fmt::format(", where {} {} not arrived", ranks_text(wait->missing, most_items),
                            wait->missing.size() == 1 ? "has" : "have");
    return text;
}

Table call_table(const Job& now, const Job* before) {
    using L = const LiveCall&;
    const std::vector<Field<LiveCall>> fields{
        {{.id = "call", .title = "CALL"}, [](L l) { return l.call; }},
        {{.id = "mean_bytes", .title = "AVG SIZE", .unit = Unit::bytes},
         [](L l) { return l.row->sum.bytes ? ratio(l.row->sum.bytes, l.row->sum.calls) : Value(); }},
        {{.id = "calls", .title = "CALLS", .unit = Unit::count}, [](L l) { return l.row->sum.calls; }},
        {{.id = "calls_per_second", .title = "NOW/S", .unit = Unit::count}, [](L l) { return known(l.per_second); }},
        {{.id = "time_ns", .title = "TIME/RANK", .unit = Unit::time},
         [](L l) { return static_cast<double>(l.time_ns) / std::max(1u, l.ranks); }},
        {{.id = "wall_share", .title = "%WALL", .unit = Unit::share}, [](L l) { return ratio(l.time_ns, l.wall_ns); }},
        {{.id = "wall_share_now", .title = "%NOW", .unit = Unit::share}, [](L l) { return known(l.share_now); }},
        {bar(1), [](L l) { return l.share_now ? Value(*l.share_now) : ratio(l.time_ns, l.wall_ns); }},
    };
    Table table = table_of("calls", fields, live_calls(now, before));
    cut(table, rows_shown, "");
    return table;
}

std::string share_text(const Job& now, const Job* before) {
    const LiveRates rates = live_rates(now, before);
    std::string text =
        fmt::format("{}{} inside {}", at_least(now), human_share(rates.share_inside), vocabulary_of(now).library);
    if (rates.share_inside_now) text += fmt::format(" ({} now)", human_share(std::min(1.0, *rates.share_inside_now)));
    return text;
}

std::string rate_text(const Job& now, const Job* before) {
    const LiveRates rates = live_rates(now, before);
    if (!rates.calls_per_s) return "";
    const std::string calls = human_count(*rates.calls_per_s) + " calls/s";
    return rates.bytes_per_s ? calls + ", " + human_rate(*rates.bytes_per_s) : calls;
}

Table headline(const Job& now, const Job* before) {
    HeadlineTable lines;
    const LiveTotals totals = live_totals(now);
    lines.add(1, "command", now.command, now.command.empty() ? now.executable : now.command);
    lines.add(2, "job", now.job, now.job.empty() ? "" : "job " + now.job);
    lines.add(2, "ranks", std::uint64_t{now.size}, plural(now.size, "rank", "ranks"));
    lines.add(2, "elapsed_ns", totals.elapsed_ns,
              fmt::format("{} since {}", human_time(static_cast<double>(totals.elapsed_ns)), vocabulary_of(now).init));
    lines.add(3, "states", states_text(now), states_text(now));
    lines.add(4, "share", share_text(now, before), share_text(now, before));
    lines.add(4, "rates", rate_text(now, before), rate_text(now, before));
    return lines.take();
}

// What is proven, empty where nothing is; names of the program's are in it.
std::string hang_text(const Analysed& now) {
    const auto& hang = now.hang();
    return hang ? visible(words_of(*hang, now.job, is_over(now.job)), true) : std::string();
}

}  // namespace

std::vector<Table> live_tables(const Analysed& now, const Job* before) {
    Table head = headline(now.job, before);
    if (const std::string hang = hang_text(now); !hang.empty())
        head.notes.push_back(hang + "; every rank: mpiprof-report hang");
    else if (const std::string longest = longest_text(now.job); !longest.empty())
        head.notes.push_back(longest + "; details: mpiprof-report hang");
    return {std::move(head), call_table(now.job, before)};
}

std::string live_line(const Analysed& now, const Job* before) {
    const Job& job = now.job;
    std::vector<std::string> parts{human_time(static_cast<double>(live_totals(job).elapsed_ns)), states_text(job),
                                   share_text(job, before)};
    const std::string hang = hang_text(now);
    for (std::string text : {rate_text(job, before), hang.empty() ? longest_text(job) : hang})
        if (!text.empty()) parts.push_back(std::move(text));
    return joined(parts, "; ");
}

std::string final_line(const Job& job) {
    return fmt::format("{} has ended: {}; {} since {}, {}", job.job.empty() ? "the job" : "job " + job.job,
                       states_text(job), human_time(static_cast<double>(live_totals(job).elapsed_ns)),
                       vocabulary_of(job).init, share_text(job, nullptr));
}

}  // namespace mpiprof::report
