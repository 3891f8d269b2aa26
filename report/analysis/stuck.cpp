// Whoever may be released is taken out, until nobody else can be.
#include "report/analysis/stuck.h"

#include <algorithm>

#include "report/analysis/hang_parties.h"

namespace mpiprof::report {

using Ranks = Stuck::Ranks;

Stuck::Stuck(const Job& job, const std::vector<const Standing*>& inside) : job_(job), collectives_(job) {
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
    const Ranks in_messages = in_messages_that_fit(), in_collectives = in_complete_collectives();
    free(in_messages);
    free(in_collectives);
    free_those_that_wait_for_free_ones();
}

const Standing* Stuck::of(std::uint32_t rank) const {
    const auto found = stuck_.find(rank);
    return found == stuck_.end() ? nullptr : found->second.standing;
}

std::vector<const Standing*> Stuck::all() const {
    std::vector<const Standing*> standings;
    for (const auto& [rank, waiting] : stuck_) standings.push_back(waiting.standing);
    return standings;
}

std::optional<std::uint32_t> Stuck::partner(const Message& message) const {
    if (message.peer < 0 || message.group == 0) return std::nullopt;
    const auto peer = static_cast<std::uint32_t>(message.peer);
    if (job_.groups[message.group].is_inter) return std::nullopt;
    if (job_.groups[message.group].is_world) return peer;
    const auto found = rank_at_.find({message.group, peer});
    return found == rank_at_.end() ? std::nullopt : std::optional(found->second);
}

bool Stuck::is_member(std::uint32_t rank, std::uint32_t group) const {
    const auto found = members_.find(group);
    return job_.groups[group].is_world || (found != members_.end() && found->second.contains(rank));
}

std::optional<Ranks> Stuck::others_in(std::uint32_t group, std::uint32_t rank) const {
    const Group& wanted = job_.groups[group];
    if (group == 0 || wanted.is_inter) return std::nullopt;
    Ranks others;
    if (wanted.is_world)
        for (std::uint32_t r = 0; r < job_.size; ++r) others.insert(r);
    else if (const auto found = members_.find(group); found != members_.end() && found->second.size() == wanted.size)
        others = found->second;
    else
        return std::nullopt;
    others.erase(rank);
    return others;
}

std::optional<Ranks> Stuck::releasers(const Standing& standing) const {
    if (standing.waits_for_more) return std::nullopt;
    // What it has posted while it did not record may end its call as well.
    const Rank* self = job_.find(standing.rank);
    if (job_.calls[*standing.call].has_requests && self && self->paused_ns != 0) return std::nullopt;
    Ranks all;
    const auto add = [&](const std::optional<Ranks>& some) {
        if (some) all.insert(some->begin(), some->end());
        return some.has_value();
    };
    if (is_in_collective(job_, standing)) {
        const auto others = others_in(standing.group, standing.rank);
        if (!others || !add(collectives_.releasers(standing, *others, gone_))) return std::nullopt;
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

bool Stuck::fit(const Message& message, std::uint32_t rank, const Message& answer, std::uint32_t by) const {
    const auto to = partner(message), from = partner(answer);
    const auto is_tag = [](std::int32_t a, std::int32_t b) { return a == b || a == any_tag || b == any_tag; };
    return !message.is_collective && !answer.is_collective && message.is_sent != answer.is_sent &&
           message.group == answer.group && is_tag(message.tag, answer.tag) && (!to || *to == by) &&
           (!from || *from == rank);
}

Ranks Stuck::in_messages_that_fit() const {
    Ranks free;
    for (const auto& [rank, waiting] : stuck_) {
        Ranks others = waiting.others;
        others.insert(rank);
        for (const Message& message : waiting.standing->waits_for)
            for (const std::uint32_t other : others)
                if (const Standing* standing = of(other))
                    for (const std::vector<Message>* messages : {&standing->waits_for, &standing->posted})
                        for (const Message& answer : *messages)
                            if (fit(message, rank, answer, other)) free.insert({rank, other});
    }
    return free;
}

Ranks Stuck::in_complete_collectives() const {
    Ranks free;
    for (const auto& [rank, waiting] : stuck_)
        for (const Message& message : waiting.standing->waits_for) {
            if (!message.is_collective) continue;
            const auto others = others_in(message.group, rank);
            if (!others || collectives_.have_come(*waiting.standing, message.group, *others, gone_)) free.insert(rank);
        }
    return free;
}

void Stuck::free(const Ranks& ranks) {
    for (const std::uint32_t rank : ranks) stuck_.erase(rank);
}

void Stuck::free_those_that_wait_for_free_ones() {
    for (bool has_changed = true; has_changed;) {
        const auto freed = std::erase_if(stuck_, [&](const auto& entry) {
            return std::any_of(entry.second.others.begin(), entry.second.others.end(),
                               [&](std::uint32_t other) { return !gone_.contains(other) && !stuck_.contains(other); });
        });
        has_changed = freed != 0;
    }
}

}  // namespace mpiprof::report
