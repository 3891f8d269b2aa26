// Waiting that is for no rank in particular: one after the other, all for one that serves them, now for one and now for
// another. For findings.cpp.
#include <algorithm>
#include <optional>
#include <utility>

#include "report/analysis/analysed.h"
#include "report/analysis/causes.h"
#include "report/analysis/findings.h"
#include "report/analysis/last_ranks.h"
#include "report/analysis/pipelines.h"
#include "report/model/named_calls.h"
#include "report/model/waiting.h"

namespace mpiprof::report {

const ComparedCall* most_waited_in(const Job& job) {
    constexpr std::uint64_t least_calls = 10;
    const auto& calls = job.comparison.calls;
    const bool is_one = !calls.empty() && calls.front().waiting_ns > 0 && calls.front().compared >= least_calls;
    return is_one ? &calls.front() : nullptr;
}

std::optional<evidence::CameLast> came_last(const Job& job, const Ranks& ranks) {
    const ComparedCall* call = most_waited_in(job);
    if (!call) return std::nullopt;
    std::uint64_t times = 0;
    for (const LastRank& last : call->last_ranks)
        if (is_in(ranks, last.rank)) times += last.times;
    return evidence::CameLast{call->call, share(static_cast<double>(times), static_cast<double>(call->compared))};
}

namespace {

using Findings = std::vector<Finding>;

bool may_wait(const Call& call) { return call.family != Family::nccl && may_wait_for_others(call.traffic); }

// Of a slow network unless the ranks are known to share a node: what takes longer than that is waiting beyond doubt.
double moving_ns(const Row& row, bool is_of_one_node = false) {
    return slowest_moving_ns(static_cast<double>(row.sum.calls), static_cast<double>(row.sum.bytes), is_of_one_node);
}

bool is_compared(const Row& row) {
    return static_cast<double>(row.compared_ns) >= 0.95 * static_cast<double>(row.sum.time_ns);
}

// What requests move is in the calls that posted them, their time in those that complete them.
double waiting_at_least_ns(const Job& job) {
    double waiting = 0, completing = 0, posted = 0;
    for (const Row& row : job.rows) {
        const Call& call = job.calls[row.sum.call];
        if (row.requests != 0 && call.traffic != Traffic::completion) posted += moving_ns(row);
        if (!may_wait(call)) continue;
        const auto time = static_cast<double>(row.sum.time_ns);
        if (call.traffic == Traffic::completion)
            completing += call.is_sampled ? 0 : time;
        else
            waiting += is_compared(row) ? static_cast<double>(row.waiting_ns) : std::max(0.0, time - moving_ns(row));
    }
    return waiting + std::max(0.0, completing - posted);
}

// Whether even the fastest calls of those that most time is in took long: they waited, too. Where another rank is late
// each time, or ranks are kept from their processors, some calls find everybody there.
bool all_calls_wait(const Job& job) {
    constexpr double like_the_mean = 0.3;
    const Row* most = nullptr;
    for (const Row& row : job.rows)
        if (may_wait(job.calls[row.sum.call]) && (!most || row.sum.time_ns > most->sum.time_ns)) most = &row;
    if (!most || most->sum.calls == 0) return false;
    const double mean = static_cast<double>(most->sum.time_ns) / static_cast<double>(most->sum.calls);
    const double fast = most->p05_ns.value_or(static_cast<double>(most->sum.min_ns.value_or(0)));
    return fast >= like_the_mean * mean;
}

// What is passed on in a chain is waited for in receives. A send that waits does so for a receiver that is busy, and
// whose work it does not need.
double waiting_in_sends_ns(const Job& job) {
    double waiting = 0;
    for (const Row& row : job.rows)
        if (job.calls[row.sum.call].traffic == Traffic::send && row.requests == 0)
            waiting += std::max(0.0, static_cast<double>(row.sum.time_ns) - moving_ns(row));
    return waiting;
}

// At any moment one rank at most is outside MPI, and what they do inside is waiting, each time.
void serial_chain(const Job& job, const Figures& figures, Findings& findings) {
    // Where for most of the time nobody is at work, it is not work that they wait for.
    constexpr double least_at_work = 0.5, most_at_work = 1.15;
    constexpr double most_of_one = 0.6, most_in_sends = 1.0 / 3;
    constexpr std::size_t several = 4;  // of fewer, one that is late each time leaves as little outside
    if (!figures.efficiency || (job.ranks.size() < several && !all_calls_wait(job))) return;
    const double at_work = share(figures.outside.mean_ns * static_cast<double>(job.ranks.size()),
                                 static_cast<double>(figures.largest_recorded_ns));
    const double waiting = waiting_at_least_ns(job);
    if (at_work < least_at_work || at_work > most_at_work || waiting < 0.6 * static_cast<double>(figures.mpi_ns) ||
        static_cast<double>(figures.outside.most.ns) > most_of_one * static_cast<double>(figures.largest_recorded_ns))
        return;
    if (waiting_in_sends_ns(job) >= most_in_sends * waiting) return;
    const double cost = share(waiting, static_cast<double>(figures.wall_ns));
    if (cost < worth_a_look) return;
    add(findings, Rule::serial_chain, true, evidence::SerialChain{.at_work = at_work, .run_share = cost}).run_share =
        cost;
}

// What waits for one partner: a send until its receive is posted, a receive until its message is sent. Requests wait in
// the calls that complete them, which know the calls that posted them.
struct Partners {
    double ns = 0, most_ns = 0;
    double estimated_ns = 0;  // by the fastest calls
    const Row* most = nullptr;

    void add(const Row& row, double waited) {
        ns += waited;
        estimated_ns += static_cast<double>(row.requests != 0 ? row.blocked_ns : row.waiting_ns);
        if (waited <= most_ns) return;
        most_ns = waited;
        most = &row;
    }
};

// Some ranks wait in these calls and others do not, for about as long as ranks are inside MPI on average: what the
// others wait elsewhere, in a collective behind these calls, is for these.
bool have_roles(const Row& row, const Figures& figures) {
    constexpr double above_the_mean = 1.6, a_good_part = 0.5;
    const auto longest = static_cast<double>(row.largest_ns), ranks = static_cast<double>(figures.ranks);
    return longest * ranks >= above_the_mean * static_cast<double>(row.sum.time_ns) &&
           longest * ranks >= a_good_part * static_cast<double>(figures.inside_ns());
}

// Makes it a finding of late partners where nearly all that waits is sends, receives, or locks and targets: that
// somebody is late to a collective says nothing of these, and the other way round. Less is enough where some ranks
// alone wait in them.
Rule late_partners(const Job& job, const Figures& figures, evidence::Varying& e, std::optional<std::uint16_t>& call) {
    constexpr double nearly_all = 2.0 / 3;
    Partners sends, receives, targets, others;
    for (const Row& row : job.rows) {
        const Traffic traffic = job.calls[row.sum.call].traffic;
        Partners& to = traffic == Traffic::send                     ? sends
                       : traffic == Traffic::receive                ? receives
                       : is_passive_target(job.calls[row.sum.call]) ? targets
                                                                    : others;
        if (row.requests != 0)
            to.add(row, static_cast<double>(row.blocked_ns));
        else if (may_wait(job.calls[row.sum.call]) && traffic != Traffic::completion)
            to.add(row, is_compared(row) ? static_cast<double>(row.waiting_ns)
                                         : std::max(0.0, static_cast<double>(row.sum.time_ns) -
                                                             moving_ns(row, job.is_of_one_node())));
    }
    const bool sends_wait = sends.ns > receives.ns;
    const bool targets_wait = targets.ns > std::max(sends.ns, receives.ns);
    const Partners& more = targets_wait ? targets : sends_wait ? sends : receives;
    const double in_all = sends.ns + receives.ns + targets.ns + others.ns, part = share(more.ns, in_all);
    if (!more.most) return Rule::varying;
    const bool flows_one_way = !targets_wait && !sends_wait && is_pipeline(job, in_all);
    const bool is_even = figures.efficiency->load_balance >= 0.9;
    if (part < nearly_all && !flows_one_way && !(is_even && have_roles(*more.most, figures))) return Rule::varying;
    e.partner_share = part;
    e.is_known = false;  // calls of two are not lined up
    const double waiting = std::min(more.estimated_ns, static_cast<double>(figures.waiting_ns));
    e.run_share = std::max(e.run_share, share(waiting, static_cast<double>(figures.wall_ns)));
    e.mpi_share = std::max(e.mpi_share, share(waiting, static_cast<double>(figures.inside_ns())));
    e.partner_bytes = share(static_cast<double>(more.most->sum.bytes), static_cast<double>(more.most->sum.calls));
    call = more.most->sum.call;
    if (flows_one_way) return Rule::pipeline;
    return targets_wait ? Rule::passive_target : sends_wait ? Rule::late_receiver : Rule::late_sender;
}

// Who comes last call by call: only where nothing else is in it, it is chance.
void look_at_order(const Job& job, evidence::Varying& e) {
    const LateOrder& order = job.comparison.order;
    if (order.calls == 0) return;
    e.period = order.period;
    e.order = order.turns;
    e.stays = order.is_in_stretches ? order.stays : 0;
    e.is_by_chance = order.is_by_chance;
}

void varying(const Job& job, const Figures& figures, Findings& findings) {
    if (!figures.efficiency || figures.inside_ns() == 0) return;
    // Both are upper bounds where the other is not: of calls whose fastest waited, too, and of calls that are merely
    // small.
    const double waiting = std::min(waiting_at_least_ns(job), static_cast<double>(figures.waiting_ns));
    const auto slow = std::find_if(findings.begin(), findings.end(), [](const Finding& said) {
        return std::holds_alternative<evidence::Imbalance>(said.evidence);
    });
    const bool is_slow_said = slow != findings.end();
    Ranks turns = is_slow_said && slow->ranks.size() < 2 ? Ranks{} : late_in_turn(job);
    // Slow one after the other, not together: what the others wait is more than the sums of these say.
    if (is_slow_said &&
        !std::all_of(turns.begin(), turns.end(), [&](std::uint32_t rank) { return is_in(slow->ranks, rank); }))
        turns.clear();
    const double for_slow = is_slow_said && turns.empty() ? slow->run_share : 0;
    const double cost = share(waiting, static_cast<double>(figures.wall_ns)) - for_slow;
    // Beside much more that was moved, ranks that leave a transfer a little apart are no cause.
    constexpr double least_of_mpi = 0.25;
    if (cost < worth_a_look || cost < for_slow || waiting < least_of_mpi * static_cast<double>(figures.inside_ns()))
        return;
    evidence::Varying e{.mpi_share = share(waiting, static_cast<double>(figures.inside_ns())),
                        .run_share = cost,
                        .slow_share = for_slow,
                        .processor_share = {},
                        .pushed_off_per_s = {},
                        .load_balance = figures.efficiency->load_balance,
                        .is_known = figures.is_waiting_known(),
                        .last = {}};
    add_processors(job, e);
    e.turns = std::move(turns);
    const auto has = [&](Rule rule) {
        return std::any_of(findings.begin(), findings.end(), [rule](const Finding& said) { return said.rule == rule; });
    };
    e.is_said_for_whom =
        has(Rule::serial_chain) || has(Rule::one_serves_all) || has(Rule::late_inside) || has(Rule::in_turn);
    e.is_of_crowd = has(Rule::crowded);
    e.cores_busy = figures.cores_busy;
    look_at_order(job, e);
    const ComparedCall* call = most_waited_in(job);
    if (!has(Rule::serial_chain) && call && !call->last_ranks.empty()) {
        const LastRank& last = call->last_ranks.front();
        e.last_rank = last.rank;
        e.last = came_last(job, {e.last_rank});
        e.last_waiting_share = share(last.waited_ns, call->compared_waiting_ns);
    }
    if (is_slow_said && !e.turns.empty()) findings.erase(slow);
    std::optional<std::uint16_t> call_of_partners;
    // The last of a pipeline is last whoever is slow in it.
    const bool is_for_slow = for_slow > 0 && !is_pipeline(job, waiting);
    const bool is_for_ranks = is_for_slow || !e.turns.empty() || e.is_said_for_whom;
    Rule rule = is_for_ranks ? Rule::varying : late_partners(job, figures, e, call_of_partners);
    if (for_slow > 0) e.run_share = cost;
    if (for_slow > 0 && rule != Rule::pipeline) rule = Rule::varying, call_of_partners.reset();
    const double cost_of_it = e.run_share;
    Finding& finding = add(findings, rule, true, std::move(e));
    finding.run_share = cost_of_it;
    if (call_of_partners) finding.calls = {*call_of_partners};
}

// Nearly all messages have one rank at an end, which is busy outside MPI while the others wait.
void one_serves_all(const Job& job, const Figures& figures, Findings& findings) {
    constexpr double nearly_all = 0.9;
    constexpr double busy = 0.5;
    if (!figures.efficiency || job.ranks.size() < 3 || !job.peers.is_recorded) return;
    std::vector<std::uint64_t> of_rank(job.size), partners(job.size);
    std::uint64_t all = 0;
    for (const PeerPair& pair : job.peers.pairs) {
        if (pair.from >= job.size || pair.to >= job.size || pair.from == pair.to) continue;
        all += pair.messages();
        for (const std::uint32_t rank : {pair.from, pair.to}) of_rank[rank] += pair.messages();
        ++partners[pair.to];
    }
    const auto most = std::max_element(of_rank.begin(), of_rank.end());
    if (all == 0 || most == of_rank.end()) return;
    const auto server = static_cast<std::uint32_t>(most - of_rank.begin());
    const double messages = share(static_cast<double>(*most), static_cast<double>(all));
    const Rank* rank = job.find(server);
    if (!rank || messages < nearly_all || static_cast<double>(partners[server]) < nearly_all * (job.size - 1)) return;
    double between_two = 0;
    for (const Row& row : job.rows) {
        const Traffic traffic = job.calls[row.sum.call].traffic;
        const bool is_of_all = traffic == Traffic::collective || traffic == Traffic::sync;
        if (may_wait(job.calls[row.sum.call]) && !is_of_all) between_two += static_cast<double>(row.sum.time_ns);
    }
    const double busy_share = share(static_cast<double>(rank->outside_ns()), static_cast<double>(rank->recorded_ns()));
    const double others_ns = static_cast<double>(figures.inside_ns() - rank->inside_ns());
    const double others_wall = static_cast<double>(figures.wall_ns - rank->recorded_ns());
    if (busy_share < busy || between_two < 0.6 * static_cast<double>(figures.mpi_ns)) return;
    // Where messages are many, what moving them may take hides that.
    const double less_busy = others_wait(job, {server}, static_cast<double>(rank->outside_ns())).ns;
    const double waiting = std::min({others_ns, std::max(waiting_at_least_ns(job), less_busy), between_two});
    const double others = share(waiting, others_wall);
    if (others < worth_a_look) return;
    Finding& finding = add(findings, Rule::one_serves_all, true,
                           evidence::OneServesAll{.messages_share = messages,
                                                  .busy_share = busy_share,
                                                  .others_run_share = others,
                                                  .cpu_share = cpu_share_of(job, {server})});
    finding.ranks = {server};
    finding.nodes = {rank->node};
    finding.run_share = share(waiting, static_cast<double>(figures.wall_ns));
}

}  // namespace

void find_shared_waiting(const Analysed& all, Findings& findings) {
    const Job& job = all.job;
    const Figures& figures = all.figures();
    for (const auto rule : {serial_chain, one_serves_all, varying}) rule(job, figures, findings);
}

}  // namespace mpiprof::report
