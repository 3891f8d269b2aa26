// A rank that is known to wait for certain others alone is stuck if all of these are: they stand in calls of which the
// same is true, or will enter nothing any more. Whoever is outside MPI, has other threads that call it, or is in a call
// of which it is not known whom it waits for, may release others, and proves nothing.
#include "report/analysis/deadlocks.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "report/analysis/orders.h"

namespace mpiprof::report {
namespace {

using Ranks = std::set<std::uint32_t>;

bool counts_have_holes(const Job& job) { return job.drops.cells != 0 || job.drops.communicators != 0; }

bool is_in_collective(const Job& job, const Standing& standing) {
    return standing.group != 0 && job.calls[*standing.call].is_ordered && !job.calls[*standing.call].is_posted;
}

Party party_of(const Standing& standing) {
    return {.ranks = {standing.rank},
            .call = *standing.call,
            .place = standing.place,
            .for_ns = standing.for_ns,
            .group = standing.group != 0 ? std::optional(standing.group) : std::nullopt,
            .root = standing.root,
            .messages = standing.waits_for};
}

// Ranks that stand alike in all that is said of them.
std::vector<Party> parties_apart(const std::vector<const Standing*>& standings) {
    std::vector<Party> parties;
    for (const Standing* standing : standings) {
        const Party wanted = party_of(*standing);
        const auto same = std::find_if(parties.begin(), parties.end(), [&](const Party& party) {
            return party.call == wanted.call && party.place == wanted.place && party.root == wanted.root &&
                   party.group == wanted.group && party.messages == wanted.messages;
        });
        if (same == parties.end()) {
            parties.push_back(wanted);
        } else {
            same->ranks.push_back(standing->rank);
            same->for_ns = std::max(same->for_ns, standing->for_ns);
        }
    }
    std::stable_sort(parties.begin(), parties.end(),
                     [](const Party& a, const Party& b) { return a.ranks.size() > b.ranks.size(); });
    return parties;
}

Hang hang_between(Hang::Kind kind, std::uint32_t group, const std::vector<const Standing*>& standings) {
    Hang hang{.kind = kind, .group = group, .parties = parties_apart(standings), .gone = {}};
    for (const Party& party : hang.parties) hang.for_ns = std::max(hang.for_ns, party.for_ns);
    return hang;
}

// ---- collectives that are not the same ones ----

// A collective that it has posted.
bool waits_for_one_of(const Standing& standing, std::uint32_t group) {
    return std::any_of(standing.waits_for.begin(), standing.waits_for.end(),
                       [&](const Message& m) { return m.is_collective && m.group == group; });
}

// What a member has made of a communicator's collectives: those that have returned, and one that it stands in.
struct Progress {
    const Membership* member = nullptr;
    const Standing* standing = nullptr;
    std::optional<OrderedCall> in_hand{};
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
    if (!of_one || !of_other || *of_one == *of_other) return std::nullopt;
    const auto kind_of = [&](const OrderedCall& a, const OrderedCall& b) {
        return a.call == b.call ? Hang::Kind::different_roots : Hang::Kind::different_collectives;
    };
    std::vector<const Standing*> standings;
    for (const Progress* p : {&one, &other})
        if (p->standing) standings.push_back(p->standing);
    Hang hang = hang_between(Hang::Kind::different_order, group, standings);
    hang.at = 0;
    // Both are in that call now, and were the same up to it.
    if (one.in_hand && other.in_hand && at == one.last() && at == other.last() &&
        one.member->order == other.member->order) {
        hang.kind = kind_of(*one.in_hand, *other.in_hand);
        hang.at = at;
        return hang;
    }
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

// ---- ranks that are stuck for one another ----

class Stuck {
  public:
    Stuck(const Job& job, const std::vector<const Standing*>& inside) : job_(job) {
        for (const std::uint32_t rank : never_come(job)) gone_.insert(rank);
        for (const Membership& m : job.memberships)
            rank_at_[{m.group, m.rank_in_group}] = m.rank, members_[m.group].insert(m.rank);
        std::map<std::uint32_t, std::uint32_t> threads;
        for (const Standing& standing : job.standings) ++threads[standing.rank];
        constexpr std::uint32_t multiple = 3;
        if (job.size > most_ranks || job.thread_level >= multiple || counts_have_holes(job)) return;
        for (const Standing* standing : inside)
            if (threads[standing->rank] == 1 && standing->is_only_thread && !gone_.contains(standing->rank))
                if (auto others = releasers(*standing)) stuck_[standing->rank] = {standing, std::move(*others)};
        free_those_that_match();
        free_those_that_wait_for_free_ones();
    }

    bool empty() const { return stuck_.empty(); }
    const Standing* of(std::uint32_t rank) const {
        const auto found = stuck_.find(rank);
        return found == stuck_.end() ? nullptr : found->second.standing;
    }
    std::vector<const Standing*> all() const {
        std::vector<const Standing*> standings;
        for (const auto& [rank, waiting] : stuck_) standings.push_back(waiting.standing);
        return standings;
    }
    const Ranks& waits_for(std::uint32_t rank) const { return stuck_.at(rank).others; }
    bool is_gone(std::uint32_t rank) const { return gone_.contains(rank); }
    // The rank that a message is from or to; nobody in particular, or not known.
    std::optional<std::uint32_t> partner(const Message& message) const {
        if (message.peer < 0 || message.group == 0) return std::nullopt;
        const auto peer = static_cast<std::uint32_t>(message.peer);
        if (job_.groups[message.group].is_inter) return std::nullopt;
        if (job_.groups[message.group].is_world) return peer;
        const auto found = rank_at_.find({message.group, peer});
        return found == rank_at_.end() ? std::nullopt : std::optional(found->second);
    }
    bool is_member(std::uint32_t rank, std::uint32_t group) const {
        const auto found = members_.find(group);
        return job_.groups[group].is_world || (found != members_.end() && found->second.contains(rank));
    }

  private:
    static constexpr std::uint32_t most_ranks = 1024;  // each is held against each
    struct Waiting {
        const Standing* standing = nullptr;
        Ranks others;
    };

    // All who are in it; nothing where some are not known.
    std::optional<Ranks> others_in(std::uint32_t group, std::uint32_t rank) const {
        const Group& wanted = job_.groups[group];
        if (group == 0 || wanted.is_inter) return std::nullopt;
        Ranks others;
        if (wanted.is_world)
            for (std::uint32_t r = 0; r < job_.size; ++r) others.insert(r);
        else if (const auto found = members_.find(group);
                 found != members_.end() && found->second.size() == wanted.size)
            others = found->second;
        else
            return std::nullopt;
        others.erase(rank);
        return others;
    }

    // One of these has to do something before the call ends; nothing: it is not known who.
    std::optional<Ranks> releasers(const Standing& standing) const {
        if (standing.waits_for_more) return std::nullopt;
        Ranks all;
        const auto add = [&](const std::optional<Ranks>& some) {
            if (some) all.insert(some->begin(), some->end());
            return some.has_value();
        };
        if (is_in_collective(job_, standing)) {
            if (!add(others_in(standing.group, standing.rank))) return std::nullopt;
        } else if (standing.waits_for.empty()) {
            return std::nullopt;
        }
        for (const Message& message : standing.waits_for) {
            if (message.is_collective || message.peer == any_rank) {
                if (!add(others_in(message.group, standing.rank))) return std::nullopt;
            } else if (const auto rank = partner(message); rank) {
                if (*rank != standing.rank) all.insert(*rank);  // itself it has no hand free for
            } else {
                return std::nullopt;  // somebody of another world
            }
        }
        return all;
    }

    bool fit(const Message& message, std::uint32_t rank, const Message& answer, std::uint32_t by) const {
        const auto to = partner(message), from = partner(answer);
        const auto is_tag = [](std::int32_t a, std::int32_t b) { return a == b || a == any_tag || b == any_tag; };
        return !message.is_collective && !answer.is_collective && message.is_sent != answer.is_sent &&
               message.group == answer.group && is_tag(message.tag, answer.tag) && (!to || *to == by) &&
               (!from || *from == rank);
    }

    // Messages that fit are on their way, and so is a collective that all have come to: their ranks go on.
    void free_those_that_match() {
        Ranks free;
        std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> come;
        for (const auto& [rank, waiting] : stuck_) {
            Ranks others = waiting.others;
            others.insert(rank);
            for (const Message& message : waiting.standing->waits_for)
                for (const std::uint32_t other : others)
                    if (const auto found = stuck_.find(other); found != stuck_.end())
                        for (const std::vector<Message>* messages :
                             {&found->second.standing->waits_for, &found->second.standing->posted})
                            for (const Message& answer : *messages)
                                if (fit(message, rank, answer, other)) free.insert({rank, other});
        }
        for (const auto& [group, members] : members_) {
            if (members.size() != job_.groups[group].size) continue;
            std::set<std::uint64_t> last;
            std::vector<std::uint32_t> waiting;
            for (const std::uint32_t rank : members) {
                const auto* member = membership(group, rank);
                const Standing* standing = of(rank);
                const bool is_in_it = standing && standing->group == group && is_in_collective(job_, *standing);
                last.insert(member->collectives + is_in_it);
                if (is_in_it || (standing && std::any_of(standing->waits_for.begin(), standing->waits_for.end(),
                                                         [&, g = group](const Message& m) {
                                                             return m.is_collective && m.group == g;
                                                         })))
                    waiting.push_back(rank);
            }
            if (last.size() == 1) free.insert(waiting.begin(), waiting.end());
        }
        for (const std::uint32_t rank : free) stuck_.erase(rank);
    }
    const Membership* membership(std::uint32_t group, std::uint32_t rank) const {
        const auto found = std::lower_bound(
            job_.memberships.begin(), job_.memberships.end(), std::pair(group, rank),
            [](const Membership& m, const auto& wanted) { return std::pair(m.group, m.rank) < wanted; });
        return &*found;
    }

    void free_those_that_wait_for_free_ones() {
        for (bool has_changed = true; has_changed;) {
            const auto freed = std::erase_if(stuck_, [&](const auto& entry) {
                return std::any_of(entry.second.others.begin(), entry.second.others.end(), [&](std::uint32_t other) {
                    return !gone_.contains(other) && !stuck_.contains(other);
                });
            });
            has_changed = freed != 0;
        }
    }

    const Job& job_;
    Ranks gone_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> rank_at_;  // by group and rank in it
    std::map<std::uint32_t, Ranks> members_;
    std::map<std::uint32_t, Waiting> stuck_;
};

// Two members in collectives of two communicators, each of which the other has to come to.
std::optional<Hang> in_different_communicators(const Job& job, const Stuck& stuck) {
    for (const Standing* one : stuck.all())
        for (const Standing* other : stuck.all())
            if (is_in_collective(job, *one) && is_in_collective(job, *other) && one->group < other->group &&
                stuck.is_member(other->rank, one->group) && stuck.is_member(one->rank, other->group)) {
                std::vector<const Standing*> both;
                for (const Standing* standing : stuck.all())
                    if (is_in_collective(job, *standing) &&
                        (standing->group == one->group || standing->group == other->group))
                        both.push_back(standing);
                return hang_between(Hang::Kind::different_communicators, one->group, both);
            }
    return std::nullopt;
}

// One receives from the other, who sends to it, and the messages do not fit.
std::optional<Hang> messages_that_do_not_fit(const Job&, const Stuck& stuck) {
    for (const Standing* one : stuck.all())
        for (const Message& message : one->waits_for) {
            const auto partner = stuck.partner(message);
            const Standing* other = partner ? stuck.of(*partner) : nullptr;
            if (!other || message.is_collective) continue;
            for (const Message& answer : other->waits_for)
                if (!answer.is_collective && answer.is_sent != message.is_sent && stuck.partner(answer) == one->rank)
                    return hang_between(answer.group != message.group ? Hang::Kind::different_communicators
                                                                      : Hang::Kind::different_tags,
                                        message.group, {one, other});
        }
    return std::nullopt;
}

std::optional<Hang> collective_for_message(const Job& job, const Stuck& stuck) {
    for (const Standing* one : stuck.all()) {
        if (!is_in_collective(job, *one)) continue;
        for (const Standing* other : stuck.all())
            if (!is_in_collective(job, *other) && stuck.waits_for(one->rank).contains(other->rank) &&
                stuck.waits_for(other->rank).contains(one->rank))
                return hang_between(Hang::Kind::collective_and_message, one->group, {one, other});
    }
    return std::nullopt;
}

// A message that waits for somebody who will do nothing any more.
std::optional<Hang> no_partner(const Job& job, const Stuck& stuck) {
    constexpr std::size_t most_made = 3;
    for (const Standing* one : stuck.all())
        for (const Message& message : one->waits_for) {
            const auto partner = stuck.partner(message);
            const bool is_itself = partner == one->rank;
            if (!partner || !(is_itself || stuck.is_gone(*partner)) || message.is_collective) continue;
            Hang hang =
                hang_between(message.is_sent ? Hang::Kind::not_received : Hang::Kind::not_sent, message.group, {one});
            if (!is_itself) hang.gone = {*partner};
            for (const Made& made : job.made)
                if (made.rank == *partner && job.calls[made.call].sends != message.is_sent) hang.made.push_back(made);
            if (hang.made.size() > most_made) hang.made.clear();
            return hang;
        }
    return std::nullopt;
}

}  // namespace

std::optional<Hang> broken_order(const Job& job, const std::vector<const Standing*>& inside) {
    if (counts_have_holes(job)) return std::nullopt;
    Ranks gone;
    for (const std::uint32_t rank : never_come(job)) gone.insert(rank);
    std::map<std::uint32_t, std::vector<Progress>> groups;
    std::multimap<std::uint32_t, const Standing*> standing_of;
    for (const Standing* standing : inside) standing_of.emplace(standing->rank, standing);
    for (const Membership& member : job.memberships) {
        const Group& group = job.groups[member.group];
        if (group.is_inter || group.size < 2) continue;
        Progress progress{.member = &member};
        bool is_known = gone.contains(member.rank);
        for (auto [at, end] = standing_of.equal_range(member.rank); at != end; ++at) {
            const Standing* standing = at->second;
            is_known = true;
            const bool is_in_it = standing->group == member.group && is_in_collective(job, *standing);
            if (is_in_it || waits_for_one_of(*standing, member.group)) progress.standing = standing;
            if (!is_in_it) continue;
            progress.in_hand = OrderedCall{*standing->call, standing->root};
        }
        if (is_known) groups[member.group].push_back(progress);
    }
    for (const auto& [group, members] : groups) {
        // Against one that hangs in it.
        const auto first = std::find_if(members.begin(), members.end(), [](const Progress& p) { return p.standing; });
        if (first == members.end()) continue;
        for (const Progress& other : members) {
            if (&other == &*first) continue;
            auto hang = hang_between(job, *first, other);
            if (!hang) continue;
            // All that stand in it, not these two alone.
            if (!hang->parties.empty() && first->in_hand && other.in_hand && hang->at == first->last() &&
                hang->at == other.last()) {
                std::vector<const Standing*> standings;
                for (const Progress& member : members)
                    if (member.in_hand) standings.push_back(member.standing);
                const Hang::Kind kind = hang->kind;
                const std::uint64_t at = hang->at;
                hang = hang_between(kind, group, standings);
                hang->at = at;
            }
            return hang;
        }
    }
    return std::nullopt;
}

std::optional<Hang> deadlock(const Job& job, const std::vector<const Standing*>& inside) {
    const Stuck stuck(job, inside);
    if (stuck.empty()) return std::nullopt;
    for (const auto kind : {in_different_communicators, messages_that_do_not_fit, collective_for_message, no_partner})
        if (auto hang = kind(job, stuck)) return hang;
    return std::nullopt;
}

std::optional<Hang> cycle(const Job& job, const std::vector<const Standing*>& inside) {
    const Stuck stuck(job, inside);
    if (stuck.empty()) return std::nullopt;
    // Whoever is followed for as many steps as there are ranks is in one.
    const auto next = [&](std::uint32_t rank) -> std::optional<std::uint32_t> {
        for (const std::uint32_t other : stuck.waits_for(rank))
            if (stuck.of(other)) return other;
        return std::nullopt;
    };
    std::uint32_t rank = stuck.all().front()->rank;
    for (std::size_t steps = 0; steps < stuck.all().size(); ++steps) {
        const auto other = next(rank);
        if (!other) return std::nullopt;
        rank = *other;
    }
    std::vector<const Standing*> members{stuck.of(rank)};
    for (auto other = next(rank); other && *other != rank; other = next(*other)) members.push_back(stuck.of(*other));
    return hang_between(Hang::Kind::cycle, 0, members);
}

}  // namespace mpiprof::report
