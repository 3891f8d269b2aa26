// Ranks that are slow. Judged on the time outside MPI: time in MPI is its complement, and whoever is slow has little of
// it.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "report/analysis/analysed.h"
#include "report/analysis/causes.h"
#include "report/analysis/findings.h"
#include "report/analysis/last_ranks.h"
#include "report/analysis/periods.h"
#include "report/model/ratio.h"

namespace mpiprof::report {

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

namespace {

// Of their time outside MPI: they were ready to run and had no processor.
double runnable_share_of(const Job& job, const Ranks& ranks) {
    double runnable = 0, outside = 0;
    for (const std::uint32_t number : ranks) {
        const Rank& rank = *job.find(number);
        runnable += budget_of(rank).of(Part::processor);
        outside += static_cast<double>(rank.outside_ns());
    }
    return share(runnable, outside);
}

using Findings = std::vector<Finding>;

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
    constexpr std::size_t at_least = 6;  // periods: a shorter rest may be the pause between two bursts
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

// For how long these ranks were kept from the processors beyond the others, if that is much of what they are slower by.
std::uint64_t throttled_beyond_others(const Job& job, const Ranks& slow, double longer_ns) {
    constexpr double much = 0.25;
    double of_slow = 0, of_others = 0, others = 0;
    for (const RankPlace& place : job.placement.ranks) {
        const bool is_slow = is_in(slow, place.rank);
        (is_slow ? of_slow : of_others) += static_cast<double>(place.throttled_ns);
        others += is_slow ? 0 : 1;
    }
    const double beyond = share(of_slow, static_cast<double>(slow.size())) - share(of_others, others);
    return beyond >= much * longer_ns ? whole_ns(beyond) : 0;
}

// Of the longest record: what is lacking in that of a rank that did not reach MPI_Finalize. It may have worked all of
// that time or none of it.
double most_lacking_ns(const Job& job, const Figures& figures) {
    double most = 0;
    for (const Rank& rank : job.ranks) {
        if (rank.state == State::finalized) continue;
        const std::uint64_t known = rank.recorded_ns() - std::min(rank.recorded_ns(), rank.assumed_ns);
        most = std::max(most, static_cast<double>(figures.largest_recorded_ns - known));
    }
    return most;
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

// Of several slow ranks one may wait for another, and all others for now one and now the other: then they wait for
// longer than the sums of these ranks say. Nothing where calls that have nearly all of the waiting do not show that it
// is for these ranks.
std::optional<OthersWait> waited_as_compared(const Job& job, const Figures& figures, const Ranks& slow) {
    constexpr double nearly_all = 0.9;
    double waiting = 0, compared = 0, for_slow = 0;
    for (const ComparedCall& call : job.comparison.calls) {
        waiting += call.waiting_ns;
        compared += call.compared_waiting_ns;
        for (const LastRank& last : call.last_ranks)
            if (is_in(slow, last.rank)) for_slow += last.waited_ns;
    }
    if (slow.size() < 2 || waiting < nearly_all * static_cast<double>(figures.waiting_ns) || compared <= 0 ||
        for_slow < nearly_all * compared)
        return std::nullopt;
    double of_others = 0, wall = 0, inside = 0;
    for (const Rank& rank : job.ranks) {
        if (is_in(slow, rank.rank)) continue;
        of_others += static_cast<double>(rank.waiting_ns);
        wall += static_cast<double>(rank.recorded_ns());
        inside += static_cast<double>(rank.inside_ns());
    }
    return OthersWait{waiting, share(of_others, wall), share(of_others, inside)};
}

// Now one rank comes last and now another, and of few such steps some have got the longer ones: these came last to the
// call that is waited in no more often, and were waited for in it no longer, than any other ranks would have been two
// times in a hundred.
bool may_be_chance(const Job& job, const Ranks& slow) {
    const ComparedCall* call = most_waited_in(job);
    if (!call || !job.comparison.order.is_by_chance || !call->is_world || call->members != job.ranks.size() ||
        call->undecided >= call->compared)
        return false;
    const auto decided = static_cast<double>(call->compared - call->undecided);
    double times = 0, waited_ns = 0;
    for (const LastRank& last : call->last_ranks) {
        if (!is_in(slow, last.rank)) continue;
        times += static_cast<double>(last.times);
        waited_ns += last.waited_ns;
    }
    const double fair = share(static_cast<double>(slow.size()), static_cast<double>(job.ranks.size()));
    const double at_most = fair + 2 * std::sqrt(fair * (1 - fair) / decided);
    return times <= at_most * decided && waited_ns <= at_most * call->compared_waiting_ns;
}

}  // namespace

OthersWait others_wait(const Job& job, const Ranks& waited_for, double outside_ns) {
    double waiting = 0, wall = 0, inside = 0;
    for (const Rank& rank : job.ranks) {
        if (is_in(waited_for, rank.rank)) continue;
        const double less = outside_ns - static_cast<double>(rank.outside_ns());
        waiting += std::clamp(less, 0.0, static_cast<double>(rank.inside_ns()));
        wall += static_cast<double>(rank.recorded_ns());
        inside += static_cast<double>(rank.inside_ns());
    }
    return {waiting, share(waiting, wall), share(waiting, inside)};
}

void find_slow_ranks(const Analysed& all, Findings& findings) {
    const Job& job = all.job;
    const Figures& figures = all.figures();
    constexpr double goes_with_rank = 0.95;
    constexpr double apart = 0.4;  // of the whole spread: between the slow ones and the others
    if (!figures.efficiency || figures.mpi_ns == 0) return;
    const double mean = figures.outside.mean_ns;
    const double longer = static_cast<double>(figures.outside.most.ns) - mean;
    if (longer < worth_a_look * static_cast<double>(figures.largest_elapsed_ns)) return;
    // Ranks that were killed before the others have done less work for that alone.
    if (most_lacking_ns(job, figures) > longer / 2) return;
    Ranks slow;
    double of_slow = 0, of_others = 0, least_slow = 1e300, most_other = 0;
    for (const Rank& rank : job.ranks) {
        const auto outside = static_cast<double>(rank.outside_ns());
        const bool is_slow = outside > mean + longer / 2;
        if (is_slow) slow.push_back(rank.rank);
        (is_slow ? of_slow : of_others) += outside;
        is_slow ? least_slow = std::min(least_slow, outside) : most_other = std::max(most_other, outside);
    }
    const auto rest = static_cast<double>(job.ranks.size() - slow.size());
    of_slow = share(of_slow, static_cast<double>(slow.size()));
    of_others = share(of_others, rest);
    const double spread = static_cast<double>(figures.outside.most.ns - figures.outside.least.ns);
    OthersWait others = others_wait(job, slow, of_slow);
    double cost = others.run_share * rest / static_cast<double>(job.ranks.size());
    if (const auto compared = waited_as_compared(job, figures, slow);
        compared && compared->run_share > others.run_share) {
        others = *compared;
        cost = share(others.ns, static_cast<double>(figures.wall_ns));
    }
    evidence::Imbalance e{.is_all_of_node = slow.size() > 1 && is_all_of_a_node(job, slow),
                          .longer_share = of_others > 0 ? of_slow / of_others - 1 : 0,
                          .longer_ns = longer,
                          .load_balance = figures.efficiency->load_balance,
                          .others_share = others.mpi_share,
                          .others_run_share = others.run_share,
                          .cpu_share = cpu_share_of(job, slow),
                          .runnable_share = runnable_share_of(job, slow),
                          .throttled_ns = throttled_beyond_others(job, slow, longer),
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
    } else if (!is_apart || may_be_chance(job, slow)) {
        rule = Rule::imbalance;
    } else {
        look_when(job, slow, e);
    }
    Finding& finding = add(findings, rule, true, std::move(e));
    name_ranks(finding, job, std::move(slow));
    finding.run_share = cost;
}

}  // namespace mpiprof::report
