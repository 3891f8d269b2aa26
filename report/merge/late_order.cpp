// Chance has to be excluded before an order is told: of many lags one always fits a little. Each claim below rests on
// so many calls that ranks drawn at random would fulfil it less often than once in a million jobs.
#include "report/merge/late_order.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace mpiprof::report {
namespace {

constexpr std::size_t least_calls = 10;

// Calls in which much was waited: who is last to the others is noise, and may be another rank.
std::vector<LateCall> waited_in(std::span<const LateCall> calls) {
    constexpr double much = 0.5;  // of the mean of those that were waited in at all
    // Each call counts by how long was waited in it: where one of ten is waited in, the other nine do not lower the
    // mean.
    double waited = 0, weighted = 0;
    for (const LateCall& call : calls) waited += call.waited_ns, weighted += call.waited_ns * call.waited_ns;
    const double typical = waited > 0 ? weighted / waited : 0;
    std::vector<LateCall> late;
    for (const LateCall& call : calls)
        if (call.is_decided && call.waited_ns > 0 && call.waited_ns >= much * typical) late.push_back(call);
    return late;
}

// How often two calls have the same last rank if each is drawn at random.
double by_chance(const std::vector<LateCall>& late) {
    std::map<std::uint32_t, double> times;
    for (const LateCall& call : late) ++times[call.rank];
    double same = 0;
    const auto all = static_cast<double>(late.size());
    for (const auto& [rank, count] : times) same += count / all * count / all;
    return same;
}

struct Pairs {
    double count = 0, same = 0;
    double share() const { return count > 0 ? same / count : 0; }
};
// Pairs of calls that lie so many collectives apart.
Pairs pairs_apart(const std::vector<LateCall>& late, std::uint64_t lag) {
    Pairs pairs;
    auto other = late.begin();
    for (const LateCall& call : late) {
        while (other != late.end() && other->number < call.number + lag) ++other;
        if (other == late.end()) break;
        if (other->number != call.number + lag) continue;
        ++pairs.count;
        pairs.same += other->rank == call.rank;
    }
    return pairs;
}

// The least number of collectives after which the same rank is last again, and before which it was not.
std::uint64_t period_of(const std::vector<LateCall>& late, double chance) {
    constexpr double nearly_always = 0.9, a_good_part = 0.5, no_chance = 20;  // e to this power against one
    constexpr std::uint64_t most_lags = 1024, least_periods = 3;
    const std::uint64_t span = late.back().number - late.front().number + 1;
    const double least = std::max(static_cast<double>(least_calls), no_chance / -std::log(chance));
    bool was_another = false;
    for (std::uint64_t lag = 1; lag <= std::min(most_lags, span / least_periods); ++lag) {
        const Pairs pairs = pairs_apart(late, lag);
        if (pairs.count < least) continue;
        const bool is_same = pairs.share() >= nearly_always;
        if (is_same && was_another &&
            pairs.count >= a_good_part * static_cast<double>(late.size()) * (1 - 1.0 / least_periods))
            return lag;
        was_another |= pairs.share() < a_good_part * (1 + chance);
    }
    return 0;
}

// Each rank once for each stretch in which it is last: at each place of a period the one that mostly is, where the call
// there is mostly waited in.
std::vector<std::uint32_t> turns_in(const std::vector<LateCall>& late, std::uint64_t period) {
    std::map<std::uint64_t, std::map<std::uint32_t, std::uint64_t>> at_place;
    for (const LateCall& call : late) ++at_place[(call.number - late.front().number) % period][call.rank];
    const auto times = [](const auto& ranks) {
        std::uint64_t sum = 0;
        for (const auto& [rank, count] : ranks) sum += count;
        return sum;
    };
    std::uint64_t most = 0;
    for (const auto& [place, ranks] : at_place) most = std::max(most, times(ranks));
    std::vector<std::uint32_t> turns;
    for (const auto& [place, ranks] : at_place) {
        if (2 * times(ranks) < most) continue;
        const auto more = [](const auto& x, const auto& y) { return x.second < y.second; };
        const std::uint32_t rank = std::max_element(ranks.begin(), ranks.end(), more)->first;
        if (turns.empty() || turns.back() != rank) turns.push_back(rank);
    }
    if (turns.size() > 2 && turns.front() == turns.back()) turns.pop_back();
    return turns;
}

// In calls of which the one before was kept, too, one is late alone if all others waited for nearly all of the time
// between the two.
void find_alone(std::span<const LateCall> calls, std::uint32_t members, LateOrder& order) {
    constexpr double nearly_all = 0.8;
    std::map<std::uint32_t, double> alone;
    double known = 0, in_all = 0;
    for (std::size_t i = 1; i < calls.size(); ++i) {
        const LateCall &call = calls[i], &before = calls[i - 1];
        if (call.number != before.number + 1) continue;
        const auto between = static_cast<double>(call.entered_ns - before.entered_ns);
        known += call.waited_ns;
        if (!call.is_decided || call.waited_ns < nearly_all * between * (members - 1)) continue;
        alone[call.rank] += call.waited_ns;
        in_all += call.waited_ns;
    }
    if (known <= 0) return;
    order.alone_share = in_all / known;
    for (const auto& [rank, waited] : alone)
        if (2 * members * waited >= in_all) order.alone.push_back(rank);
}

}  // namespace

LateOrder late_order_of(std::span<const LateCall> calls, std::uint32_t members) {
    constexpr double clearly = 0.5, no_chance = 4;  // standard deviations
    constexpr double of_many = 0.6;                 // one of two that are late as often has 0.5
    LateOrder order;
    const std::vector<LateCall> late = waited_in(calls);
    if (late.size() < least_calls) return order;
    order.calls = late.size();
    const double chance = by_chance(late);
    std::size_t same = 0;
    for (std::size_t i = 1; i < late.size(); ++i) same += late[i].rank == late[i - 1].rank;
    const auto pairs = static_cast<double>(late.size() - 1);
    const double again = static_cast<double>(same) / pairs;
    order.stays = static_cast<double>(late.size()) / static_cast<double>(late.size() - same);
    const double beyond = std::max(clearly * (1 - chance), no_chance * std::sqrt(chance * (1 - chance) / pairs));
    order.is_in_stretches = chance < 1 && again >= chance + beyond;
    if (chance < 1) order.period = period_of(late, chance);
    order.is_by_chance = order.period == 0 && !order.is_in_stretches && chance <= of_many;
    if (order.period != 0) order.turns = turns_in(late, order.period);
    find_alone(calls, members, order);
    return order;
}

}  // namespace mpiprof::report
