// Members of a communicator make its collectives in one order. So what one has entered is a beginning of what another
// has, and no call is in it more often.
#include "report/analysis/hangs.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "report/analysis/collective_waits.h"
#include "report/analysis/deadlocks.h"
#include "report/analysis/doubts.h"
#include "report/analysis/hang_parties.h"
#include "report/analysis/nccl_hangs.h"

namespace mpiprof::report {
namespace {

bool is_blocking_collective(const Job& job, const Standing& standing) {
    const Call& call = job.calls[*standing.call];
    return standing.group != 0 && call.family == Family::mpi && is_collective(call.traffic);
}

// How often a rank has entered each collective of a communicator, the one in hand included.
using Counts = std::map<std::uint16_t, std::uint64_t>;

std::uint64_t total_of(const Counts& counts) {
    std::uint64_t total = 0;
    for (const auto& [call, times] : counts) total += times;
    return total;
}

// Neither can be a beginning of the other, or both are as long and end in different calls.
bool part_ways(const Counts& a, const Counts& b, std::uint16_t now_a, std::uint16_t now_b) {
    const std::uint64_t of_a = total_of(a), of_b = total_of(b);
    if (of_a == of_b && now_a != now_b) return true;
    const Counts& shorter = of_a <= of_b ? a : b;
    const Counts& longer = of_a <= of_b ? b : a;
    return std::any_of(shorter.begin(), shorter.end(), [&](const auto& entry) {
        const auto other = longer.find(entry.first);
        return entry.second > (other == longer.end() ? 0 : other->second);
    });
}

std::optional<Hang> different_collectives(const Job& job, const std::vector<const Standing*>& inside) {
    // Counts with holes prove nothing.
    const bool has_holes =
        job.drops.cells != 0 || job.drops.communicators != 0 || job.drops.threads != 0 ||
        std::any_of(job.ranks.begin(), job.ranks.end(), [](const Rank& r) { return r.paused_ns != 0; });
    if (has_holes) return std::nullopt;
    std::map<std::uint32_t, std::vector<const Standing*>> by_group;
    for (const Standing* standing : inside)
        if (is_blocking_collective(job, *standing)) by_group[standing->group].push_back(standing);
    for (const auto& [group, members] : by_group) {
        std::map<std::uint32_t, Counts> counts;
        std::set<std::uint32_t> wanted;
        for (const Standing* member : members) wanted.insert(member->rank);
        for (const Entries& entry : entries_of(job, group))
            if (entry.call != Entries::none && entry.entered != 0 && wanted.contains(entry.rank))
                counts[entry.rank][entry.call] = entry.entered;
        const Standing& first = *members.front();
        const bool differ = std::any_of(members.begin(), members.end(), [&](const Standing* other) {
            return part_ways(counts[first.rank], counts[other->rank], *first.call, *other->call);
        });
        if (!differ) continue;
        Hang hang{
            .kind = Hang::Kind::different_collectives, .group = group, .parties = parties_of(members), .gone = {}};
        for (const Party& party : hang.parties) hang.for_ns = std::max(hang.for_ns, party.for_ns);
        return hang;
    }
    return std::nullopt;
}

// Of these ranks the ones that belong to the communicator, as far as is known.
std::vector<std::uint32_t> members_among(const Job& job, std::uint32_t group, std::vector<std::uint32_t> ranks) {
    if (job.groups[group].is_world) return ranks;
    std::set<std::uint32_t> members;
    for (const Entries& entry : entries_of(job, group))
        if (entry.call == Entries::none) members.insert(entry.rank);
    for (const Membership& membership : memberships_of(job, group)) members.insert(membership.rank);
    std::erase_if(ranks, [&](std::uint32_t rank) { return !members.contains(rank); });
    return ranks;
}

// How many collectives a rank has made there; nothing: not known.
std::optional<std::uint64_t> made_by(const Job& job, std::uint32_t group, std::uint32_t rank) {
    for (const Membership& member : memberships_of(job, group))
        if (member.rank == rank) return member.collectives;
    return std::nullopt;
}

// It has made fewer collectives there than one that waits for the last that it has posted.
bool has_made_fewer(const Job& job, std::uint32_t group, std::uint32_t gone, std::uint32_t waiting) {
    const auto of_gone = made_by(job, group, gone), of_waiting = made_by(job, group, waiting);
    return of_gone && of_waiting && *of_gone < *of_waiting;
}

// All members that are not inside will come to nothing any more.
bool nobody_else_comes(const Job& job, const std::vector<const Standing*>& inside,
                       const std::set<std::uint32_t>& gone) {
    std::set<std::uint32_t> here;
    for (const Standing* standing : inside) here.insert(standing->rank);
    std::vector<std::uint32_t> others;
    for (const Rank& rank : job.ranks)
        if (!here.contains(rank.rank) && !gone.contains(rank.rank)) others.push_back(rank.rank);
    return job.profiles() == job.size && members_among(job, inside.front()->group, std::move(others)).empty();
}

std::optional<Hang> member_is_gone(const Job& job, const std::vector<const Standing*>& inside) {
    const std::vector<std::uint32_t> all_gone = never_come(job);
    if (all_gone.empty()) return std::nullopt;
    std::map<std::uint32_t, std::vector<const Standing*>> by_group, posted;
    for (const Standing* standing : inside) {
        if (is_blocking_collective(job, *standing)) by_group[standing->group].push_back(standing);
        for (const Message& message : standing->waits_for)
            if (message.is_collective) posted[message.group].push_back(standing);
    }
    const CollectiveWaits waits(job);
    const std::set<std::uint32_t> set_of_gone(all_gone.begin(), all_gone.end());
    for (const auto& [group, members] : by_group) {
        Hang hang = hang_between(Hang::Kind::member_is_gone, group, members);
        hang.gone = members_among(job, group, all_gone);
        const bool is_final = nobody_else_comes(job, members, set_of_gone);
        const auto& waiting = members;
        std::erase_if(hang.gone, [&](std::uint32_t gone) {
            return std::ranges::none_of(waiting, [&](const Standing* standing) {
                return waits.lacks(*standing, gone) && (is_final || waits.needs(*standing, gone));
            });
        });
        if (!hang.gone.empty()) return hang;
    }
    for (const auto& [group, members] : posted) {
        Hang hang = hang_between(Hang::Kind::member_is_gone, group, members);
        hang.gone = members_among(job, group, all_gone);
        const std::uint32_t waiting = members.front()->rank, of = group;
        std::erase_if(hang.gone, [&](std::uint32_t gone) { return !has_made_fewer(job, of, gone, waiting); });
        if (!hang.gone.empty()) return hang;
    }
    return std::nullopt;
}

std::optional<Hang> nobody_is_left(const Job& job, const std::vector<const Standing*>& inside) {
    const auto waits_for_messages = [&](const Standing* standing) {
        const Traffic traffic = job.calls[*standing->call].traffic;
        return traffic == Traffic::receive || traffic == Traffic::send || traffic == Traffic::exchange ||
               traffic == Traffic::completion || traffic == Traffic::probe;
    };
    Hang hang{.kind = Hang::Kind::nobody_is_left, .group = 0, .parties = {}, .gone = {}};
    std::set<std::uint32_t> waiting;
    std::vector<const Standing*> standings;
    for (const Standing* standing : inside)
        if (waits_for_messages(standing)) {
            waiting.insert(standing->rank);
            standings.push_back(standing);
        }
    // One rank may still talk to itself, and several to each other.
    if (waiting.size() != 1 || job.size < 2 || job.profiles() != job.size) return std::nullopt;
    hang.gone = never_come(job);
    if (hang.gone.size() + 1 != job.ranks.size() || std::ranges::count(hang.gone, *waiting.begin()) != 0)
        return std::nullopt;
    hang.parties = parties_of(standings);
    hang.for_ns = hang.parties.front().for_ns;
    return hang;
}

}  // namespace

std::string_view id_of(Hang::Kind kind) {
    using K = Hang::Kind;
    switch (kind) {
        case K::different_collectives:
            return "different-collectives";
        case K::member_is_gone:
            return "member-is-gone";
        case K::nobody_is_left:
            return "nobody-is-left";
        case K::different_roots:
            return "different-roots";
        case K::different_arguments:
            return "different-arguments";
        case K::different_order:
            return "different-order";
        case K::different_communicators:
            return "different-communicators";
        case K::different_tags:
            return "different-tags";
        case K::not_started:
            return "not-started";
        case K::collective_and_message:
            return "collective-and-message";
        case K::cycle:
            return "cycle";
        case K::not_sent:
            return "not-sent";
        case K::not_received:
            return "not-received";
    }
    return "";
}

bool is_over(const Job& job) {
    bool may_run = false;
    bool has_abort = false;
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile) continue;
        if (rank.is_in_finalize || (rank.state == State::running && rank.life == Life::running)) return false;
        may_run |= rank.state == State::running && rank.life == Life::unknown;
        has_abort |= rank.state == State::aborted;
    }
    return !may_run || has_abort;
}

std::optional<Hang> hang_of(const Job& job) {
    if (job.is_text) return std::nullopt;
    if (auto hang = nccl_hang(job)) return hang;
    const std::vector<const Standing*> inside = long_inside(job);
    if (inside.empty()) return std::nullopt;
    if (auto hang = broken_order(job, inside)) return hang;  // each rank adds up what is not recorded, too
    if (leaves_out_functions(job)) return std::nullopt;      // what was left out may be what goes on
    for (const auto kind : {different_collectives, deadlock, member_is_gone, cycle, nobody_is_left})
        if (auto hang = kind(job, inside)) return hang;
    return std::nullopt;
}

std::optional<Quiet> quiet_of(const Job& job) {
    Quiet quiet{.for_ns = ~std::uint64_t{0}, .are_all_inside = true};
    std::set<std::uint32_t> seen;
    for (const Standing& standing : job.standings) {
        if (standing.since_ns == 0) return std::nullopt;
        seen.insert(standing.rank);
        quiet.for_ns = std::min(quiet.for_ns, standing.for_ns);
        quiet.are_all_inside &= standing.is_inside;
    }
    for (const Rank& rank : job.ranks)
        if (!rank.has_profile || (!seen.contains(rank.rank) && !is_gone(rank))) return std::nullopt;
    if (seen.empty() || job.profiles() != job.expected() || quiet.for_ns < worth_a_word_ns) return std::nullopt;
    return quiet;
}

}  // namespace mpiprof::report
