// Parties are told apart by all that may make the difference.
#include "report/analysis/hang_parties.h"

#include <algorithm>

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
