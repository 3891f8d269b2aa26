// Ranks that come late because of what they do inside MPI: one writes a file that the others do not, two exchange more,
// one waits there itself. Time outside MPI, by which slow ranks are found, does not show it; who came last to
// collectives does. For findings.cpp.
#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "report/analysis/analysed.h"
#include "report/analysis/causes.h"
#include "report/analysis/findings.h"
#include "report/analysis/last_ranks.h"
#include "report/model/waiting.h"

namespace mpiprof::report {
namespace {

// Those that are late in calls that have two thirds of the waiting, where these are few.
struct Awaited {
    Ranks ranks;
    double share = 0;  // of the waiting
};
std::optional<Awaited> awaited_in(const ComparedCall& call) {
    constexpr double most_of_it = 2.0 / 3;
    constexpr std::size_t few = 4;
    Awaited awaited;
    for (const LateRank& late : call.late_ranks) {
        const double of_waiting = share(late.waited_ns, call.compared_waiting_ns);
        if (of_waiting < most_of_it) break;
        awaited.ranks.push_back(late.rank);
        awaited.share = of_waiting;
    }
    const std::size_t ranks = awaited.ranks.size();
    if (ranks == 0 || ranks > few || 2 * ranks > call.members) return std::nullopt;
    std::sort(awaited.ranks.begin(), awaited.ranks.end());
    return awaited;
}

double longer_outside_ns(const Job& job, const Ranks& ranks) {
    double own = 0, others = 0;
    for (const Rank& rank : job.ranks)
        (is_in(ranks, rank.rank) ? own : others) += static_cast<double>(rank.outside_ns());
    const auto n = static_cast<double>(ranks.size());
    return share(own, n) - share(others, static_cast<double>(job.ranks.size()) - n);
}

// By how much they spend more time in a call than the others, for the call in which that is most.
struct More {
    double ns = 0;
    std::uint16_t call = 0;
};
// A row knows the rank that was there longest, and all together: of several ranks the others are taken to be like that
// one.
More most_beyond_others(const Job& job, const Ranks& ranks, std::uint16_t but_for) {
    std::vector<double> by_call(job.calls.size());
    const auto n = static_cast<double>(job.ranks.size()), of_them = static_cast<double>(ranks.size());
    for (const Row& row : job.rows) {
        const std::uint16_t call = row.sum.call;
        if (call == but_for || job.calls[call].family == Family::nccl || !is_in(ranks, row.largest_rank)) continue;
        const auto own = static_cast<double>(row.largest_ns), all = static_cast<double>(row.sum.time_ns);
        by_call[call] += std::min(own, std::max(0.0, own - share(all - own, n - 1)) * share(n - 1, n - of_them));
    }
    const auto most = std::max_element(by_call.begin(), by_call.end());
    return most == by_call.end() ? More{} : More{*most, static_cast<std::uint16_t>(most - by_call.begin())};
}

// Long calls that are nearly all waiting: for a partner, a target or a lock. Who is late because of them is the
// messenger, and those who wait for partners are another rule's. Many short ones may be work: a long queue that is
// looked through.
bool only_waits(const Job& job, std::uint16_t call) {
    constexpr double long_call_ns = 200'000, nearly_all = 0.75;
    if (!may_wait_for_others(job.calls[call].traffic)) return false;
    double calls = 0, time = 0, moving = 0;
    for (const Row& row : job.rows) {
        if (row.sum.call != call) continue;
        const auto n = static_cast<double>(row.sum.calls);
        calls += n;
        time += static_cast<double>(row.sum.time_ns);
        const auto bytes = static_cast<double>(row.sum.bytes);
        moving += slowest_moving_ns(n, bytes, job.is_of_one_node());
    }
    return time >= long_call_ns * calls && time - moving >= nearly_all * time;
}

}  // namespace

void find_late_inside(const Analysed& all, std::vector<Finding>& findings) {
    const Job& job = all.job;
    const Figures& figures = all.figures();
    constexpr double a_good_part = 0.5;
    const ComparedCall* waited = most_waited_in(job);
    if (!waited || !figures.efficiency || waited->compared_waiting_ns <= 0) return;
    const auto awaited = awaited_in(*waited);
    if (!awaited || awaited->ranks.size() == job.ranks.size()) return;
    for (const std::uint32_t rank : awaited->ranks)
        if (!job.find(rank)) return;
    const double waiting_ns = waited->waiting_ns * awaited->share;
    const double of_each_ns = share(waiting_ns, static_cast<double>(waited->members - awaited->ranks.size()));
    if (longer_outside_ns(job, awaited->ranks) > a_good_part * of_each_ns) return;  // slow ranks are another rule's
    const More more = most_beyond_others(job, awaited->ranks, waited->call);
    const double cost = share(waiting_ns, static_cast<double>(figures.wall_ns));
    if (more.ns < a_good_part * of_each_ns || cost < worth_a_look || only_waits(job, more.call)) return;
    const Rank& first = *job.find(awaited->ranks.front());
    Finding& finding =
        add(findings, Rule::late_inside, true,
            evidence::LateInside{.waiting_share = awaited->share,
                                 .more_ns = more.ns,
                                 .others_run_share = share(of_each_ns, static_cast<double>(first.recorded_ns())),
                                 .may_wait = may_wait_for_others(job.calls[more.call].traffic)});
    finding.calls = {more.call, waited->call};
    name_ranks(finding, job, awaited->ranks);
    finding.run_share = cost;
}

}  // namespace mpiprof::report
