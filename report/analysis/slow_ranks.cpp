// Who is waited for. Judged on the time outside MPI: time in MPI is its complement, and whoever is slow has little of
// it.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "report/analysis/causes.h"
#include "report/analysis/periods.h"
#include "report/model/waiting.h"

namespace mpiprof::report {
namespace {

using Findings = std::vector<Finding>;
using Ranks = std::vector<std::uint32_t>;

// What moving alone would take at most, on a slow network: the rest of the time in MPI was waiting, whatever the
// fastest call took.
constexpr double slow_call_ns = 100'000;
constexpr double slow_bytes_per_ns = 0.1;

bool may_wait(const Call& call) { return call.family != Family::nccl && may_wait_for_others(call.traffic); }

double moving_ns(const Row& row) {
    return static_cast<double>(row.sum.calls) * slow_call_ns + static_cast<double>(row.sum.bytes) / slow_bytes_per_ns;
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

// ---- ranks that are slow ----

bool is_in(const Ranks& ranks, std::uint32_t rank) { return std::binary_search(ranks.begin(), ranks.end(), rank); }

bool is_all_of_a_node(const Job& job, const Ranks& ranks) {
    if (job.nodes.size() < 2) return false;
    const std::uint32_t node = job.find(ranks.front())->node;
    std::size_t on_node = 0;
    for (const Rank& rank : job.ranks) on_node += rank.node == node;
    return on_node == ranks.size() &&
           std::all_of(ranks.begin(), ranks.end(), [&](std::uint32_t r) { return job.find(r)->node == node; });
}

// Time outside MPI as it goes with the number of the rank, from -1 to 1.
double correlation_with_rank(const Job& job, double mean) {
    const auto n = static_cast<double>(job.ranks.size());
    double both = 0, of_rank = 0, of_time = 0;
    for (std::size_t i = 0; i < job.ranks.size(); ++i) {
        const double x = static_cast<double>(i) - (n - 1) / 2;
        const double y = static_cast<double>(job.ranks[i].outside_ns()) - mean;
        both += x * y;
        of_rank += x * x;
        of_time += y * y;
    }
    return share(both, std::sqrt(of_rank * of_time));
}

// How long some ranks were outside MPI above the others, period by period, as a share of the period.
struct Course {
    std::vector<double> of_slow, of_others;  // shares outside MPI
    Axis axis;

    double above(std::size_t i) const { return of_slow[i] - of_others[i]; }
    double mean_above(std::size_t from, std::size_t to) const {
        double sum = 0;
        for (std::size_t i = from; i < to; ++i) sum += above(i);
        return share(sum, static_cast<double>(to - from));
    }
};

constexpr std::size_t periods_of_course = 48;

std::optional<Course> course_of(const Job& job, const Ranks& slow) {
    std::vector<Lane> of_slow, of_others;
    for (const Lane& lane : lanes_of(job, {})) {
        if (lane.activity->width_ns <= 0) return std::nullopt;
        (is_in(slow, lane.rank->rank) ? of_slow : of_others).push_back(lane);
    }
    if (of_slow.empty() || of_others.empty()) return std::nullopt;
    std::vector<Lane> all = of_slow;
    all.insert(all.end(), of_others.begin(), of_others.end());
    Course course{.of_slow = {}, .of_others = {}, .axis = axis_of(all)};
    const double width = course.axis.length() / periods_of_course;
    const auto is_coarse = [&](const Lane& lane) { return lane.activity->width_ns > 2 * width; };
    if (width <= 0 || std::any_of(all.begin(), all.end(), is_coarse)) return std::nullopt;
    const auto outside = [&](const std::vector<Lane>& lanes) {
        std::vector<double> shares;
        for (const Period& period : periods_of(lanes, course.axis, periods_of_course))
            shares.push_back(1 - std::min(1.0, share(period.time_ns, period.recorded_ns())));
        return shares;
    };
    course.of_slow = outside(of_slow);
    course.of_others = outside(of_others);
    return course;
}

// The stretch in which they were slower, where there is one and the rest of the run is unlike it.
std::optional<std::pair<std::size_t, std::size_t>> stretch_of(const Course& course) {
    constexpr std::size_t at_least = 4;  // periods: a shorter rest is no rest
    constexpr double unlike = 0.35;
    std::vector<double> sorted;
    for (std::size_t i = 0; i < periods_of_course; ++i) sorted.push_back(course.above(i));
    std::sort(sorted.begin(), sorted.end());
    const double level = sorted[periods_of_course * 9 / 10] / 2;
    if (level <= worth_a_look / 2) return std::nullopt;
    // The periods with the largest sum above the level.
    double best = 0, sum = 0;
    std::size_t begin = 0, best_begin = 0, best_end = 0;
    for (std::size_t i = 0; i < periods_of_course; ++i) {
        if (sum <= 0) {
            sum = 0;
            begin = i;
        }
        sum += course.above(i) - level;
        if (sum > best) {
            best = sum;
            best_begin = begin;
            best_end = i + 1;
        }
    }
    // One of several bursts is not the time in which they were slower.
    constexpr double most_of_it = 0.6;
    double in_all = 0, in_it = 0;
    for (std::size_t i = 0; i < periods_of_course; ++i) {
        const double more = std::max(0.0, course.above(i));
        in_all += more;
        if (i >= best_begin && i < best_end) in_it += more;
    }
    if (in_it < most_of_it * in_all) return std::nullopt;
    const double inside = course.mean_above(best_begin, best_end);
    const auto is_rest = [&](std::size_t from, std::size_t to) {
        return to - from >= at_least && course.mean_above(from, to) <= unlike * inside;
    };
    if (!is_rest(0, best_begin)) best_begin = 0;
    if (!is_rest(best_end, periods_of_course)) best_end = periods_of_course;
    if (best_begin == 0 && best_end == periods_of_course) return std::nullopt;
    return std::pair{best_begin, best_end};
}

// Since when they are slow, and how much slower while they are.
void look_when(const Job& job, const Ranks& slow, evidence::Imbalance& e) {
    const auto course = course_of(job, slow);
    if (!course) return;
    const auto stretch = stretch_of(*course);
    if (!stretch) return;
    const auto [from, to] = *stretch;
    double of_slow = 0, of_others = 0;
    for (std::size_t i = from; i < to; ++i) {
        of_slow += course->of_slow[i];
        of_others += course->of_others[i];
    }
    if (of_others > 0) e.longer_share = of_slow / of_others - 1;
    const auto after = [&](std::size_t period) {
        return static_cast<std::uint64_t>(course->axis.length() * static_cast<double>(period) / periods_of_course);
    };
    Stretch when;
    if (from != 0) when = {.began_ns = after(from), .began_at = course->axis.begin_ns + after(from)};
    if (to != periods_of_course) {
        when.ended_ns = after(to);
        when.ended_at = course->axis.begin_ns + after(to);
    }
    e.when = when;
}

// Of their time outside MPI: for at most so much of it they had a processor, all of their CPU time being in it.
std::optional<double> cpu_share_of(const Job& job, const Ranks& ranks) {
    double cpu = 0, outside = 0;
    for (const std::uint32_t number : ranks) {
        const Rank& rank = *job.find(number);
        cpu += static_cast<double>(rank.usage.user_ns + rank.usage.system_ns);
        outside += static_cast<double>(rank.outside_ns());
    }
    if (cpu <= 0 || outside <= 0) return std::nullopt;
    return std::min(1.0, cpu / outside);
}

// Of the run of those that are not slow: as much shorter as they are outside MPI, they wait inside it.
double others_wait(const Job& job, const Ranks& slow, double of_slow) {
    double waiting = 0, wall = 0;
    for (const Rank& rank : job.ranks) {
        if (is_in(slow, rank.rank)) continue;
        const double less = of_slow - static_cast<double>(rank.outside_ns());
        waiting += std::clamp(less, 0.0, static_cast<double>(rank.inside_ns()));
        wall += static_cast<double>(rank.recorded_ns());
    }
    return share(waiting, wall);
}

// Test and its like are asked so often that what lies between two of them is waiting, too.
bool is_polled(const Job& job, const Figures& figures) {
    constexpr double often = 10'000;  // times a second
    return std::any_of(job.rows.begin(), job.rows.end(), [&](const Row& row) {
        const Call& call = job.calls[row.sum.call];
        const bool asks = call.traffic == Traffic::completion || call.traffic == Traffic::probe;
        return asks && call.is_sampled &&
               static_cast<double>(row.sum.calls) > often * static_cast<double>(figures.wall_ns) / 1e9;
    });
}

// Of the call that most waiting is in, where calls were compared.
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

void slow_ranks(const Job& job, const Figures& figures, Findings& findings) {
    constexpr double goes_with_rank = 0.95;
    constexpr double apart = 0.3;  // of the whole spread: between the slow ones and the others
    if (!figures.efficiency || figures.mpi_ns == 0) return;
    const double mean = figures.outside.mean_ns;
    const double longer = static_cast<double>(figures.outside.most.ns) - mean;
    if (longer < worth_a_look * static_cast<double>(figures.largest_elapsed_ns)) return;
    Ranks slow;
    double of_slow = 0, of_others = 0, least_slow = 1e300, most_other = 0;
    for (const Rank& rank : job.ranks) {
        const auto outside = static_cast<double>(rank.outside_ns());
        const bool is_slow = outside > mean + longer / 2;
        if (is_slow) slow.push_back(rank.rank);
        (is_slow ? of_slow : of_others) += outside;
        is_slow ? least_slow = std::min(least_slow, outside) : most_other = std::max(most_other, outside);
    }
    const auto n = static_cast<double>(slow.size());
    const auto rest = static_cast<double>(job.ranks.size()) - n;
    of_slow = share(of_slow, n);
    of_others = share(of_others, rest);
    const double spread = static_cast<double>(figures.outside.most.ns - figures.outside.least.ns);
    evidence::Imbalance e{.is_all_of_node = slow.size() > 1 && is_all_of_a_node(job, slow),
                          .longer_share = of_others > 0 ? of_slow / of_others - 1 : 0,
                          .longer_ns = longer,
                          .load_balance = figures.efficiency->load_balance,
                          .others_share = std::min(1.0, longer / figures.in_mpi.mean_ns),
                          .others_run_share = others_wait(job, slow, of_slow),
                          .cpu_share = cpu_share_of(job, slow),
                          .when = {},
                          .last = came_last(job, slow),
                          .is_at_least = is_polled(job, figures),
                          .least_rank = figures.outside.least.rank};
    const bool is_apart = least_slow - most_other >= apart * spread && 2 * slow.size() <= job.ranks.size();
    Rule rule = e.is_all_of_node ? Rule::slow_node : Rule::slow_rank;
    if (job.ranks.size() >= 4 && std::abs(correlation_with_rank(job, mean)) >= goes_with_rank) {
        rule = Rule::growing_work;
        e.longer_share =
            share(static_cast<double>(figures.outside.most.ns), static_cast<double>(figures.outside.least.ns)) - 1;
        slow = {figures.outside.most.rank};
    } else if (!is_apart) {
        rule = Rule::imbalance;
    } else {
        look_when(job, slow, e);
    }
    const double cost = e.others_run_share * rest / static_cast<double>(job.ranks.size());
    Finding& finding = add(findings, rule, true, std::move(e));
    finding.nodes = {job.find(slow.front())->node};
    for (const std::uint32_t rank : slow)
        if (job.find(rank)->node != finding.nodes.front()) finding.nodes.clear();
    finding.ranks = std::move(slow);
    finding.run_share = cost;
}

// ---- nobody in particular ----

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

// At any moment one rank at most is outside MPI, and what they do inside is waiting, each time.
void serial_chain(const Job& job, const Figures& figures, Findings& findings) {
    constexpr double least_at_work = 0.2, most_at_work = 1.15;
    constexpr double most_of_one = 0.6;
    constexpr std::size_t several = 4;  // of fewer, one that is late each time leaves as little outside
    if (!figures.efficiency || (job.ranks.size() < several && !all_calls_wait(job))) return;
    const double at_work = share(figures.outside.mean_ns * static_cast<double>(job.ranks.size()),
                                 static_cast<double>(figures.largest_recorded_ns));
    const double waiting = waiting_at_least_ns(job);
    if (at_work < least_at_work || at_work > most_at_work || waiting < 0.6 * static_cast<double>(figures.mpi_ns) ||
        static_cast<double>(figures.outside.most.ns) > most_of_one * static_cast<double>(figures.largest_recorded_ns))
        return;
    const double cost = share(waiting, static_cast<double>(figures.wall_ns));
    if (cost < worth_a_look) return;
    add(findings, Rule::serial_chain, true, evidence::SerialChain{.at_work = at_work, .run_share = cost}).run_share =
        cost;
}

void varying(const Job& job, const Figures& figures, Findings& findings) {
    if (!figures.efficiency || figures.inside_ns() == 0) return;
    // Both are upper bounds where the other is not: of calls whose fastest waited, too, and of calls that are merely
    // small.
    const double waiting = std::min(waiting_at_least_ns(job), static_cast<double>(figures.waiting_ns));
    double for_slow = 0;
    for (const Finding& said : findings)
        if (std::holds_alternative<evidence::Imbalance>(said.evidence)) for_slow = said.run_share;
    const double cost = share(waiting, static_cast<double>(figures.wall_ns)) - for_slow;
    if (cost < worth_a_look || cost < for_slow) return;
    evidence::Varying e{.mpi_share = share(waiting, static_cast<double>(figures.inside_ns())),
                        .run_share = cost,
                        .slow_share = for_slow,
                        .processor_share = {},
                        .pushed_off_per_s = {},
                        .load_balance = figures.efficiency->load_balance,
                        .is_known = figures.is_waiting_known(),
                        .last = {}};
    add_processors(job, e);
    if (const ComparedCall* call = most_waited_in(job); call && !call->last_ranks.empty()) {
        e.last_rank = call->last_ranks.front().rank;
        e.last = came_last(job, {e.last_rank});
    }
    add(findings, Rule::varying, true, e).run_share = cost;
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
    const double waiting = std::min({others_ns, waiting_at_least_ns(job), between_two});
    const double others = share(waiting, others_wall);
    if (others < worth_a_look) return;
    Finding& finding =
        add(findings, Rule::one_serves_all, true,
            evidence::OneServesAll{.messages_share = messages, .busy_share = busy_share, .others_run_share = others});
    finding.ranks = {server};
    finding.nodes = {rank->node};
    finding.run_share = share(waiting, static_cast<double>(figures.wall_ns));
}

}  // namespace

void find_late_ranks(const Job& job, const Figures& figures, Findings& findings) {
    for (const auto rule : {slow_ranks, serial_chain, one_serves_all, varying}) rule(job, figures, findings);
}

}  // namespace mpiprof::report
