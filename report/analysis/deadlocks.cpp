// What ranks that are stuck for one another are stuck in, from the most telling to the least.
#include "report/analysis/deadlocks.h"

#include "report/analysis/hang_parties.h"
#include "report/analysis/stuck.h"

namespace mpiprof::report {
namespace {

// The communicator of the collective that it is in, or that it waits for after posting it.
std::optional<std::uint32_t> group_of_collective(const Job& job, const Standing& standing) {
    if (is_in_collective(job, standing)) return standing.group;
    for (const Message& message : standing.waits_for)
        if (message.is_collective) return message.group;
    return std::nullopt;
}

// Two members in collectives of two communicators, each of which the other has to come to.
std::optional<Hang> in_different_communicators(const Job& job, const Stuck& stuck) {
    for (const Standing* one : stuck.all())
        for (const Standing* other : stuck.all()) {
            const auto of_one = group_of_collective(job, *one), of_other = group_of_collective(job, *other);
            if (!of_one || !of_other || *of_one >= *of_other || !stuck.is_member(other->rank, *of_one) ||
                !stuck.is_member(one->rank, *of_other))
                continue;
            std::vector<const Standing*> both;
            for (const Standing* standing : stuck.all())
                if (const auto group = group_of_collective(job, *standing); group == of_one || group == of_other)
                    both.push_back(standing);
            return hang_between(Hang::Kind::different_communicators, *of_one, both);
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

// What one waits for is set up by the other, who stands elsewhere and has not started it.
std::optional<Hang> not_started(const Job& job, const Stuck& stuck) {
    const auto fits = [&](const Message& message, const Standing& one, const Made& made) {
        if (made.calls != 0 || made.rank == one.rank || made.group != message.group) return false;
        if (message.is_collective) return message.call == made.call;
        const Call& call = job.calls[made.call];
        const Message answer{
            .call = made.call, .group = made.group, .peer = made.peer, .tag = made.tag, .is_sent = call.sends};
        const auto is_tag = [](std::int32_t a, std::int32_t b) { return a == b || a == any_tag || b == any_tag; };
        const auto is_rank = [&](const Message& to, std::uint32_t rank) {
            return to.peer == any_rank || stuck.partner(to) == rank;
        };
        return call.sends != message.is_sent && is_tag(message.tag, made.tag) && is_rank(message, made.rank) &&
               is_rank(answer, one.rank);
    };
    for (const Standing* one : stuck.all())
        for (const Message& message : one->waits_for)
            for (const Made& made : job.made) {
                const Standing* other = stuck.of(made.rank);
                if (!other || !fits(message, *one, made)) continue;
                Hang hang = hang_between(Hang::Kind::not_started, message.group, {one, other});
                hang.made = {made};
                return hang;
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
            // Whoever has gone may have meant it for another rank, tag or communicator.
            for (const Made& made : job.made) {
                const bool is_meant = is_itself ? stuck.is_gone(made.rank) : made.rank == *partner;
                if (is_meant && job.calls[made.call].sends != message.is_sent) hang.made.push_back(made);
            }
            if (hang.made.size() > most_made) hang.made.clear();
            return hang;
        }
    return std::nullopt;
}

}  // namespace

std::optional<Hang> deadlock(const Job& job, const std::vector<const Standing*>& inside) {
    const Stuck stuck(job, inside);
    if (stuck.empty()) return std::nullopt;
    for (const auto kind :
         {in_different_communicators, messages_that_do_not_fit, not_started, collective_for_message, no_partner})
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
