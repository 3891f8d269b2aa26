// Members of a communicator are told apart by how many collectives they have enqueued and what these add up to.
#include "report/analysis/nccl_hangs.h"

#include <algorithm>
#include <map>

#include "report/analysis/hang_parties.h"
#include "report/analysis/nccl_messages.h"
#include "report/analysis/orders.h"
#include "report/analysis/stuck.h"

namespace mpiprof::report {
namespace {

using Ranks = std::vector<std::uint32_t>;

std::optional<std::uint32_t> group_of(const Job& job, std::uint64_t id) {
    for (std::uint32_t i = 1; i < job.groups.size(); ++i)
        if (job.groups[i].id == id) return i;
    return std::nullopt;
}

const Orders* orders_of(const Job& job, std::uint32_t group) {
    for (const Orders& orders : job.orders)
        if (orders.is_enqueued && orders.id == job.groups[group].id) return &orders;
    return nullptr;
}

bool is_of_nccl(const Job& job, std::uint32_t group) {
    return std::any_of(job.entries.begin(), job.entries.end(), [&](const Entries& entry) {
        return entry.group == group && entry.call != Entries::none && job.calls[entry.call].family == Family::nccl;
    });
}

// Members that are not finalized and have enqueued what these have.
Ranks ranks_of(const Job& job, std::uint32_t group, const OrderOfMembers& alike) {
    Ranks ranks;
    for (const Membership& member : memberships_of(job, group))
        if (member.collectives == alike.collectives && member.order == alike.order) ranks.push_back(member.rank);
    return ranks;
}

// For how long none of them has called anything; 0: not known.
std::uint64_t quiet_for_all(const Job& job, const Ranks& ranks) {
    std::uint64_t least = 0;
    for (const std::uint32_t rank : ranks)
        if (const std::uint64_t quiet = quiet_for(job, rank)) least = least == 0 ? quiet : std::min(least, quiet);
    return least;
}

Party party_of(Ranks ranks, const OrderedStep& step, std::uint32_t group) {
    return {.ranks = std::move(ranks),
            .call = step.call,
            .place = step.place,
            .group = group,
            .root = step.root,
            .messages = {},
            .has_passed = true,
            .given = step.given};
}

Hang::Kind kind_of(const Difference& difference) {
    if (difference.are_swapped) return Hang::Kind::different_order;
    if (difference.one.word != difference.other.word) return Hang::Kind::different_collectives;
    return difference.one.root != difference.other.root ? Hang::Kind::different_roots : Hang::Kind::different_arguments;
}

// All members that have kept the collective at which these two differ are of one of the parties.
std::optional<Hang> hang_at(const Job& job, std::uint32_t group, const Orders& orders, const Difference& difference) {
    Ranks of_one, of_other;
    for (const OrderOfMembers& members : orders.members) {
        const OrderedStep* step = step_at(members.steps, difference.one.number);
        if (!step) continue;
        const bool is_one = are_alike(*step, difference.one);
        if (!is_one && !are_alike(*step, difference.other)) continue;
        const Ranks ranks = ranks_of(job, group, members);
        Ranks& side = is_one ? of_one : of_other;
        side.insert(side.end(), ranks.begin(), ranks.end());
    }
    std::sort(of_one.begin(), of_one.end());
    std::sort(of_other.begin(), of_other.end());
    if (of_one.empty() || of_other.empty()) return std::nullopt;
    Ranks all = of_one;
    all.insert(all.end(), of_other.begin(), of_other.end());
    Hang hang{.kind = kind_of(difference), .group = group, .parties = {}, .gone = {}};
    hang.for_ns = quiet_for_all(job, all);
    hang.parties = {party_of(std::move(of_one), difference.one, group),
                    party_of(std::move(of_other), difference.other, group)};
    std::stable_sort(hang.parties.begin(), hang.parties.end(),
                     [](const Party& a, const Party& b) { return a.ranks.size() > b.ranks.size(); });
    if (difference.is_exact()) hang.at = difference.at();
    return hang.for_ns >= worth_a_word_ns ? std::optional(hang) : std::nullopt;
}

std::optional<Hang> different_enqueued(const Job& job) {
    for (const Orders& orders : job.orders) {
        const auto group = orders.is_enqueued ? group_of(job, orders.id) : std::nullopt;
        if (!group) continue;
        for (const OrderOfMembers& one : orders.members)
            for (const OrderOfMembers& other : orders.members)
                if (one.first_rank < other.first_rank)
                    if (const auto difference = first_difference(one.steps, other.steps))
                        if (auto hang = hang_at(job, *group, orders, *difference)) return hang;
    }
    return std::nullopt;
}

// The most that a member has enqueued, and who has enqueued less.
struct Front {
    std::uint64_t most = 0;
    Ranks there, behind;
};
Front front_of(const Job& job, std::uint32_t group) {
    Front front;
    for (const Membership& member : memberships_of(job, group)) front.most = std::max(front.most, member.collectives);
    for (const Membership& member : memberships_of(job, group))
        (member.collectives == front.most ? front.there : front.behind).push_back(member.rank);
    return front;
}

std::optional<Hang> never_enqueued(const Job& job) {
    const Ranks gone = never_come(job);
    if (gone.empty()) return std::nullopt;
    for (const Orders& orders : job.orders) {
        const auto group = orders.is_enqueued ? group_of(job, orders.id) : std::nullopt;
        const auto step = group ? first_not_enqueued(job, *group) : std::nullopt;
        if (!step) continue;
        const Front front = front_of(job, *group);
        Hang hang{.kind = Hang::Kind::member_is_gone, .group = *group, .parties = {}, .gone = {}};
        for (const std::uint32_t rank : front.behind)
            if (std::binary_search(gone.begin(), gone.end(), rank)) hang.gone.push_back(rank);
        hang.for_ns = quiet_for_all(job, front.there);
        hang.parties = {party_of(front.there, *step, *group)};
        hang.at = step->number + 1;
        if (!hang.gone.empty() && hang.for_ns >= worth_a_word_ns) return hang;
    }
    return std::nullopt;
}

// What each of two members of two communicators has enqueued there.
using Enqueued = std::map<std::uint32_t, std::uint64_t>;  // by group

// One is ahead on one communicator, the other on the other one.
std::optional<Crossing> crossing_of(const Job& job, const std::map<std::uint32_t, Enqueued>& by_rank) {
    for (const auto& [one, enqueued] : by_rank)
        for (const auto& [other, others] : by_rank)
            for (const auto& [first, n] : enqueued)
                for (const auto& [second, m] : enqueued) {
                    const auto of_first = others.find(first), of_second = others.find(second);
                    const bool are_both = of_first != others.end() && of_second != others.end();
                    if (!are_both || n <= of_first->second || m >= of_second->second) continue;
                    const auto step = first_not_enqueued(job, first), others_step = first_not_enqueued(job, second);
                    if (!step || !others_step) continue;
                    return Crossing{.first = first,
                                    .second = second,
                                    .one = {.rank = one, .of_first = *step, .of_second = {}},
                                    .other = {.rank = other, .of_first = {}, .of_second = *others_step},
                                    .for_ns = quiet_for_all(job, {one, other})};
                }
    return std::nullopt;
}

// The lowest rank of both; they are sorted.
std::optional<std::uint32_t> first_of_both(const Ranks& one, const Ranks& other) {
    for (auto i = one.begin(), k = other.begin(); i != one.end() && k != other.end();) {
        if (*i == *k) return *i;
        ++(*i < *k ? i : k);
    }
    return std::nullopt;
}

bool has(const Ranks& ranks, std::uint32_t rank) { return std::binary_search(ranks.begin(), ranks.end(), rank); }

// In a call of MPI's, and for so long that it is no passing state.
bool waits_in_mpi(const Job& job, const Standing& standing) {
    return standing.is_inside && standing.call && job.calls[*standing.call].family == Family::mpi &&
           standing.for_ns >= worth_a_word_ns;
}

// Somebody who has not enqueued `lag` waits in one of these for somebody who has.
std::optional<MixedWait> in_collectives(const Job& job, const std::vector<Arrival>& arrivals, const Arrival& lag) {
    for (const Arrival& arrival : arrivals) {
        const auto rank = first_of_both(arrival.inside, lag.missing),
                   other = first_of_both(arrival.missing, lag.inside);
        if (!rank || !other) continue;
        for (const Standing& standing : job.standings)
            if (standing.rank == *rank && standing.call == arrival.call && waits_in_mpi(job, standing))
                return MixedWait{.in_mpi = &standing, .other = *other};
    }
    return std::nullopt;
}

// The same for a message.
std::optional<MixedWait> for_messages(const Job& job, const Stuck& stuck, const Arrival& lag) {
    for (const Standing& standing : job.standings) {
        if (!has(lag.missing, standing.rank) || !waits_in_mpi(job, standing)) continue;
        for (const Message& message : standing.waits_for)
            if (const auto other = stuck.partner(message); !message.is_collective && other && has(lag.inside, *other))
                return MixedWait{.in_mpi = &standing, .other = *other};
    }
    return std::nullopt;
}

}  // namespace

std::optional<MixedWait> mixed_wait_of(const Job& job, const std::vector<Arrival>& arrivals,
                                       const std::vector<Arrival>& lags) {
    const Stuck stuck(job, {});
    for (const Arrival& lag : lags) {
        if (lag.for_ns < worth_a_word_ns) continue;
        auto wait = in_collectives(job, arrivals, lag);
        if (!wait) wait = for_messages(job, stuck, lag);
        const auto step = wait ? first_not_enqueued(job, lag.group) : std::nullopt;
        if (!step) continue;
        wait->group = lag.group;
        wait->not_enqueued = *step;
        wait->for_ns = std::min(wait->in_mpi->for_ns, lag.for_ns);
        return wait;
    }
    return std::nullopt;
}

std::optional<OrderedStep> first_not_enqueued(const Job& job, std::uint32_t group) {
    const Orders* orders = orders_of(job, group);
    if (!orders) return std::nullopt;
    const auto by_count = [](const OrderOfMembers& a, const OrderOfMembers& b) {
        return a.collectives < b.collectives;
    };
    const auto [least, most] = std::minmax_element(orders->members.begin(), orders->members.end(), by_count);
    const OrderedStep* step = step_at(most->steps, least->collectives);
    return step ? std::optional(*step) : std::nullopt;
}

std::optional<Hang> nccl_hang(const Job& job) {
    if (auto hang = different_enqueued(job)) return hang;
    if (auto hang = never_enqueued(job)) return hang;
    return never_sent(job);
}

std::optional<Unlike> unlike_of(const Job& job) {
    for (const Orders& orders : job.orders) {
        const auto group = group_of(job, orders.id);
        if (!group || orders.is_enqueued || !is_of_nccl(job, *group)) continue;
        for (const OrderOfMembers& one : orders.members)
            for (const OrderOfMembers& other : orders.members) {
                const bool differ = one.collectives == other.collectives && one.order != other.order;
                if (one.first_rank >= other.first_rank || !differ) continue;
                const std::uint64_t quiet = quiet_for_all(job, {one.first_rank, other.first_rank});
                if (quiet >= worth_a_word_ns)
                    return Unlike{*group, one.first_rank, other.first_rank, one.collectives, quiet};
            }
    }
    return std::nullopt;
}

std::optional<Crossing> crossing_of(const Job& job) {
    for (const OppositeOrder& order : job.opposite_orders) {
        const auto first = group_of(job, order.first_id), second = group_of(job, order.second_id);
        const std::uint64_t quiet = quiet_for_all(job, {order.one.rank, order.other.rank});
        if (first && second && quiet >= worth_a_word_ns)
            return Crossing{
                .first = *first, .second = *second, .one = order.one, .other = order.other, .for_ns = quiet};
    }
    // Pairs of ranks are looked at, so not of too many.
    constexpr std::size_t most_ranks = 256;
    std::map<std::uint32_t, Enqueued> by_rank;
    for (const Membership& member : job.memberships)
        if (orders_of(job, member.group)) by_rank[member.rank][member.group] = member.collectives;
    if (by_rank.size() > most_ranks) return std::nullopt;
    auto crossing = crossing_of(job, by_rank);
    return crossing && crossing->for_ns >= worth_a_word_ns ? crossing : std::nullopt;
}

}  // namespace mpiprof::report
