// Parties are told apart by all that may make the difference.
#include "report/analysis/hang_parties.h"

#include <algorithm>
#include <map>
#include <utility>

namespace mpiprof::report {
namespace {

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

}  // namespace

bool is_gone(const Rank& rank) {
    if (!rank.has_profile) return false;
    if (rank.is_in_finalize || rank.state == State::finalized) return true;
    return rank.state != State::running || rank.life == Life::ended;
}

std::vector<const Standing*> long_inside(const Job& job) {
    std::vector<const Standing*> inside;
    for (const Standing& standing : job.standings)
        if (standing.is_inside && standing.call && standing.since_ns && standing.for_ns >= worth_a_word_ns)
            inside.push_back(&standing);
    return inside;
}

std::vector<Party> parties_of(const std::vector<const Standing*>& standings) {
    std::map<std::pair<std::uint16_t, std::uint32_t>, Party> parties;
    for (const Standing* standing : standings) {
        Party& party = parties[{*standing->call, standing->place}];
        party.call = *standing->call;
        party.place = standing->place;
        party.for_ns = std::max(party.for_ns, standing->for_ns);
        if (party.ranks.empty() || party.ranks.back() != standing->rank) party.ranks.push_back(standing->rank);
    }
    std::vector<Party> result;
    for (auto& [key, party] : parties) result.push_back(std::move(party));
    std::stable_sort(result.begin(), result.end(),
                     [](const Party& a, const Party& b) { return a.ranks.size() > b.ranks.size(); });
    return result;
}

std::vector<std::uint32_t> never_come(const Job& job) {
    const bool others_run = std::any_of(job.ranks.begin(), job.ranks.end(), [](const Rank& other) {
        return other.has_profile && other.state == State::running && other.life == Life::running;
    });
    std::vector<std::uint32_t> ranks;
    for (const Rank& rank : job.ranks) {
        const bool is_at_its_end = rank.has_profile && (rank.is_in_finalize || rank.state == State::finalized);
        if (is_at_its_end || (others_run && is_gone(rank))) ranks.push_back(rank.rank);
    }
    return ranks;
}

std::span<const Membership> memberships_of(const Job& job, std::uint32_t group) {
    return all_with(std::span<const Membership>(job.memberships), group, &Membership::group);
}
std::span<const Entries> entries_of(const Job& job, std::uint32_t group) {
    return all_with(std::span<const Entries>(job.entries), group, &Entries::group);
}

bool counts_have_holes(const Job& job) { return job.drops.cells != 0 || job.drops.communicators != 0; }

bool is_in_collective(const Job& job, const Standing& standing) {
    return standing.group != 0 && job.calls[*standing.call].is_ordered && !job.calls[*standing.call].is_posted;
}

bool waits_for_collective_of(const Standing& standing, std::uint32_t group) {
    return std::any_of(standing.waits_for.begin(), standing.waits_for.end(),
                       [&](const Message& m) { return m.is_collective && m.group == group; });
}

Hang hang_between(Hang::Kind kind, std::uint32_t group, const std::vector<const Standing*>& standings) {
    Hang hang{.kind = kind, .group = group, .parties = parties_apart(standings), .gone = {}};
    for (const Party& party : hang.parties) hang.for_ns = std::max(hang.for_ns, party.for_ns);
    return hang;
}

}  // namespace mpiprof::report
