// Ranks that take turns between collectives: output rank by rank with a barrier behind each. Each of them is outside
// MPI for as long as the others, so that no sum shows it; the order in which they come last does. For findings.cpp.
#include <algorithm>
#include <vector>

#include "report/analysis/analysed.h"
#include "report/analysis/causes.h"
#include "report/analysis/findings.h"
#include "report/analysis/last_ranks.h"

namespace mpiprof::report {

// That one rank at a time has something to do could be chance where all have little; that it is the same one again
// after a fixed number of collectives could not.
void find_in_turn(const Analysed& all, std::vector<Finding>& findings) {
    constexpr double most_of_it = 0.5;
    const Job& job = all.job;
    const Figures& figures = all.figures();
    const LateOrder& order = job.comparison.order;
    const ComparedCall* waited = most_waited_in(job);
    if (!waited || order.period == 0 || order.alone_share < most_of_it) return;
    if (order.alone.size() < 2 || 2 * order.alone.size() < waited->members) return;
    double waiting_ns = 0;
    for (const ComparedCall& call : job.comparison.calls)
        if (call.comm == waited->comm) waiting_ns += call.waiting_ns;
    const double cost = share(waiting_ns * order.alone_share, static_cast<double>(figures.wall_ns));
    if (cost < worth_a_look) return;
    std::vector<std::uint32_t> turns;
    for (const std::uint32_t rank : order.turns)
        if (is_in(order.alone, rank)) turns.push_back(rank);
    Finding& finding = add(
        findings, Rule::in_turn, true,
        evidence::InTurn{
            .alone_share = order.alone_share, .run_share = cost, .turns = std::move(turns), .period = order.period});
    finding.calls = {waited->call};
    finding.run_share = cost;
}

}  // namespace mpiprof::report
