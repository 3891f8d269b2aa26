// Positions in the order of a communicator's collectives say who has come to a call: each rank counts those that it has
// left, recorded or not.
#include "report/analysis/collective_waits.h"

#include "report/analysis/hang_parties.h"
#include "report/model/named_calls.h"

namespace mpiprof::report {

CollectiveWaits::CollectiveWaits(const Job& job) : job_(job) {
    for (const Membership& member : job.memberships) members_[{member.group, member.rank}] = &member;
    for (const Standing& standing : job.standings)
        if (standing.is_inside && standing.call && is_in_collective(job, standing))
            inside_.insert({standing.group, standing.rank});
}

std::optional<std::uint64_t> CollectiveWaits::entered(std::uint32_t group, std::uint32_t rank) const {
    const auto member = members_.find({group, rank});
    if (member == members_.end()) return std::nullopt;
    return member->second->collectives + inside_.count({group, rank});
}

std::optional<std::uint32_t> CollectiveWaits::number_of(std::uint32_t group, std::uint32_t rank) const {
    if (job_.groups[group].is_world) return rank;
    const auto member = members_.find({group, rank});
    return member == members_.end() ? std::nullopt : std::optional(member->second->rank_in_group);
}

// What makes communicators, windows and files is agreed upon by all. Of calls with a count for each member, and of
// those among neighbours, two members may have nothing to do with each other.
bool CollectiveWaits::needs_everyone(const Call& call) const {
    return call.waits_for_all || call.traffic != Traffic::collective;
}

// Of whoever has left MPI_Finalize it is not known how many it made.
bool CollectiveWaits::lacks(const Standing& standing, std::uint32_t gone) const {
    const auto own = members_.find({standing.group, standing.rank}), its = members_.find({standing.group, gone});
    if (own == members_.end() || its == members_.end()) return needs_everyone(job_.calls[*standing.call]);
    return its->second->collectives <= own->second->collectives;
}

bool CollectiveWaits::needs(const Standing& standing, std::uint32_t other) const {
    const Call& call = job_.calls[*standing.call];
    if (needs_everyone(call)) return true;
    const auto own = number_of(standing.group, standing.rank), its = number_of(standing.group, other);
    if (!own || !its) return false;
    if (is_prefix(call)) return *its < *own;
    const auto is_root = [&](std::uint32_t number) {
        return standing.root >= 0 && number == static_cast<std::uint32_t>(standing.root);
    };
    return (call.waits_for_root && is_root(*its)) || (call.root_waits && is_root(*own));
}

bool CollectiveWaits::is_beside(const Standing& standing, std::uint32_t other) const {
    return inside_.contains({standing.group, other}) &&
           entered(standing.group, other) == entered(standing.group, standing.rank);
}

std::optional<CollectiveWaits::Ranks> CollectiveWaits::releasers(const Standing& standing, const Ranks& others,
                                                                 const Ranks& gone) const {
    const auto here = entered(standing.group, standing.rank);
    if (!here) return others;
    const bool is_of_everyone = needs_everyone(job_.calls[*standing.call]);
    Ranks missing, needed;
    for (const std::uint32_t other : others) {
        const auto there = entered(standing.group, other);
        // Of whoever has left MPI_Finalize it is not known whether it had been there, and left before the others.
        if (there ? *there < *here : is_of_everyone || !gone.contains(other)) missing.insert(other);
    }
    for (const std::uint32_t other : missing)
        if (needs(standing, other)) needed.insert(other);
    if (missing.empty()) return std::nullopt;
    if (is_of_everyone) return others;
    if (!needed.empty()) return needed;
    const bool moves = std::ranges::any_of(others, [&](std::uint32_t other) { return is_beside(standing, other); });
    return moves ? std::nullopt : std::optional(others);
}

bool CollectiveWaits::have_come(const Standing& standing, std::uint32_t group, const Ranks& others,
                                const Ranks& gone) const {
    const auto own = entered(group, standing.rank);
    std::uint64_t open = 0;
    for (const auto* messages : {&standing.waits_for, &standing.posted})
        open += static_cast<std::uint64_t>(
            std::ranges::count_if(*messages, [&](const Message& m) { return m.is_collective && m.group == group; }));
    if (!own || open == 0 || *own < open) return false;
    // It may wait for any of those that are open, so perhaps for the first.
    return std::ranges::all_of(others, [&](std::uint32_t other) {
        const auto there = entered(group, other);
        return there ? *there > *own - open : gone.contains(other);
    });
}

}  // namespace mpiprof::report
