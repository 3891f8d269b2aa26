// Members of a communicator that have not made the same collectives in the same order: told by what they add up of
// them, and by those that they have kept.
#include <algorithm>
#include <map>

#include "report/analysis/deadlocks.h"
#include "report/analysis/hang_parties.h"
#include "report/analysis/orders.h"

namespace mpiprof::report {
namespace {

// What a member has made of a communicator's collectives: those that have returned, and one that it stands in.
struct Progress {
    const Membership* member = nullptr;
    const Standing* standing = nullptr;
    std::optional<OrderedCall> in_hand{};
    std::vector<OrderedStep> steps{};  // by number; the one in hand is the last
    std::uint64_t last() const { return member->collectives + (in_hand ? 1 : 0); }
};

// Where a collective was called, if from one place alone.
std::uint32_t place_of(const Job& job, std::uint32_t rank, std::uint32_t group, std::uint16_t call) {
    std::uint32_t place = 0, places = 0;
    for (const Made& made : job.made)
        if (made.rank == rank && made.group == group && made.call == call && made.calls != 0)
            place = made.place, ++places;
    return places == 1 ? place : 0;
}

Party passed_party(const Job& job, const Progress& member, const OrderedCall& call) {
    const std::uint32_t rank = member.member->rank, group = member.member->group;
    return {.ranks = {rank},
            .call = call.call,
            .place = place_of(job, rank, group, call.call),
            .group = group,
            .root = call.root,
            .messages = {},
            .has_passed = true};
}

Party passed_party(const Progress& member, const OrderedStep& step) {
    return {.ranks = {member.member->rank},
            .call = step.call,
            .place = step.place,
            .group = member.member->group,
            .root = step.root,
            .messages = {},
            .has_passed = true};
}

// In the call itself, or waiting for it after it was posted.
bool stands_in(const Progress& member, const OrderedStep& step) {
    if (!member.standing) return false;
    if (member.in_hand && step.number == member.member->collectives) return true;
    return std::any_of(member.standing->waits_for.begin(), member.standing->waits_for.end(), [&](const Message& m) {
        return m.is_collective && m.group == member.member->group && m.call == step.call && m.place == step.place;
    });
}

// Where they parted is known: each stands there, or has gone on.
Hang parted(const Progress& one, const Progress& other, const Difference& difference) {
    const bool have_one_call = difference.one.word == difference.other.word;
    const Hang::Kind kind = difference.are_swapped ? Hang::Kind::different_order
                            : have_one_call        ? Hang::Kind::different_roots
                                                   : Hang::Kind::different_collectives;
    std::vector<const Standing*> there, all;
    std::vector<Party> gone_on;
    for (const auto& [member, step] : {std::pair{&one, &difference.one}, std::pair{&other, &difference.other}}) {
        if (member->standing) all.push_back(member->standing);
        if (stands_in(*member, *step))
            there.push_back(member->standing);
        else
            gone_on.push_back(passed_party(*member, *step));
    }
    Hang hang = hang_between(kind, one.member->group, there.empty() ? all : there);
    hang.at = difference.at();
    for (const Standing* standing : all) hang.for_ns = std::max(hang.for_ns, standing->for_ns);
    hang.parties.insert(hang.parties.end(), gone_on.begin(), gone_on.end());
    return hang;
}

std::optional<Hang> hang_between(const Job& job, const Progress& one, const Progress& other) {
    const std::uint32_t group = one.member->group;
    const OrderedCalls calls(job, job.groups[group].size);
    const auto order_at = [&](const Progress& p, std::uint64_t at) -> std::optional<std::uint64_t> {
        if (at == p.member->collectives) return p.member->order;
        if (p.in_hand && at == p.member->collectives + 1) return calls.after(p.member->order, *p.in_hand);
        return std::nullopt;
    };
    const std::uint64_t at = std::min(one.last(), other.last());
    const auto of_one = order_at(one, at), of_other = order_at(other, at);
    const auto kind_of = [&](const OrderedCall& a, const OrderedCall& b) {
        return a.call == b.call ? Hang::Kind::different_roots : Hang::Kind::different_collectives;
    };
    std::vector<const Standing*> standings;
    for (const Progress* p : {&one, &other})
        if (p->standing) standings.push_back(p->standing);
    Hang hang = hang_between(Hang::Kind::different_order, group, standings);
    // Both are in that call now, and were the same up to it.
    if (of_one != of_other && one.in_hand && other.in_hand && at == one.last() && at == other.last() &&
        one.member->order == other.member->order) {
        hang.kind = kind_of(*one.in_hand, *other.in_hand);
        hang.at = at;
        return hang;
    }
    if (const auto difference = first_difference(one.steps, other.steps); difference && difference->is_exact())
        return parted(one, other, *difference);
    if (!of_one || !of_other || *of_one == *of_other) return std::nullopt;
    // One is in it, and the other has made another there and went on.
    const Progress& here = one.in_hand && at == one.last() ? one : other;
    const Progress& ahead = &here == &one ? other : one;
    if (here.in_hand && at == here.last() && at == ahead.member->collectives) {
        if (const auto passed = calls.between(here.member->order, ahead.member->order)) {
            hang = hang_between(kind_of(*here.in_hand, *passed), group, {here.standing});
            hang.parties.push_back(passed_party(job, ahead, *passed));
            hang.at = at;
            return hang;
        }
    }
    if (const auto parting = calls.parting(at, *of_one, *of_other)) {
        hang.at = parting->at;
        hang.parties.push_back(passed_party(job, one, parting->one));
        hang.parties.push_back(passed_party(job, other, parting->other));
        if (!parting->are_swapped) hang.kind = kind_of(parting->one, parting->other);
    }
    return hang;
}

// What it has kept, and what it stands in.
std::vector<OrderedStep> steps_of(const Job& job, const Progress& member) {
    const std::uint64_t id = job.groups[member.member->group].id;
    const auto orders =
        std::find_if(job.orders.begin(), job.orders.end(), [id](const Orders& o) { return o.id == id; });
    if (orders == job.orders.end()) return {};
    const auto same = std::find_if(orders->members.begin(), orders->members.end(), [&](const OrderOfMembers& m) {
        return m.collectives == member.member->collectives && m.order == member.member->order;
    });
    if (same == orders->members.end()) return {};
    std::vector<OrderedStep> steps = same->steps;
    if (member.in_hand)
        steps.push_back({.number = member.member->collectives,
                         .root = member.in_hand->root,
                         .call = member.in_hand->call,
                         .place = member.standing->place,
                         .word = job.calls[member.in_hand->call].order_word});
    return steps;
}

// Of members that stand somewhere, or will do nothing any more, by communicator.
std::map<std::uint32_t, std::vector<Progress>> progress_of(const Job& job, const std::vector<const Standing*>& inside) {
    const std::vector<std::uint32_t> gone = never_come(job);
    std::multimap<std::uint32_t, const Standing*> standing_of;
    for (const Standing* standing : inside) standing_of.emplace(standing->rank, standing);
    std::map<std::uint32_t, std::vector<Progress>> groups;
    for (const Membership& member : job.memberships) {
        const Group& group = job.groups[member.group];
        if (group.is_inter || group.size < 2) continue;
        Progress progress{.member = &member};
        bool is_known = std::binary_search(gone.begin(), gone.end(), member.rank);
        for (auto [at, end] = standing_of.equal_range(member.rank); at != end; ++at) {
            const Standing* standing = at->second;
            is_known = true;
            const bool is_in_it = standing->group == member.group && is_in_collective(job, *standing);
            if (is_in_it || waits_for_collective_of(*standing, member.group)) progress.standing = standing;
            if (is_in_it) progress.in_hand = OrderedCall{*standing->call, standing->root};
        }
        if (is_known) progress.steps = steps_of(job, progress);
        if (is_known) groups[member.group].push_back(progress);
    }
    return groups;
}

// All that stand in it, where both of a hang between two do.
void widen(Hang& hang, const std::vector<Progress>& members) {
    std::vector<const Standing*> standings;
    for (const Progress& member : members)
        if (member.in_hand) standings.push_back(member.standing);
    const std::uint64_t at = hang.at;
    hang = hang_between(hang.kind, hang.group, standings);
    hang.at = at;
}

// Each member against one that hangs in the communicator.
std::optional<Hang> broken_order_of(const Job& job, const std::vector<Progress>& members) {
    const auto first = std::find_if(members.begin(), members.end(), [](const Progress& p) { return p.standing; });
    if (first == members.end()) return std::nullopt;
    for (const Progress& other : members) {
        if (&other == &*first) continue;
        auto hang = hang_between(job, *first, other);
        if (!hang) continue;
        const bool are_both_in_it =
            first->in_hand && other.in_hand && hang->at == first->last() && hang->at == other.last();
        if (!hang->parties.empty() && are_both_in_it) widen(*hang, members);
        return hang;
    }
    return std::nullopt;
}

}  // namespace

std::optional<Hang> broken_order(const Job& job, const std::vector<const Standing*>& inside) {
    if (counts_have_holes(job)) return std::nullopt;
    for (const auto& [group, members] : progress_of(job, inside))
        if (auto hang = broken_order_of(job, members)) return hang;
    return std::nullopt;
}

}  // namespace mpiprof::report
