// Of those that differ the ones with the lowest ranks are kept: which these are does not depend on the order of
// merging.
#include "report/merge/orders.h"

#include <algorithm>
#include <utility>

namespace mpiprof::report {
namespace {

constexpr std::size_t most_communicators = 100'000;
constexpr std::size_t most_kept = 4;  // of those that differ

}  // namespace

void OrdersPart::take(std::uint64_t id, Entry&& entry) {
    if (entries_.size() >= most_communicators && !entries_.contains(id)) return;
    const auto [found, is_new] = entries_.try_emplace(id, std::move(entry));
    if (is_new) return;
    Entry& to = found->second;
    to.members += entry.members;
    to.broken.size = std::max(to.broken.size, entry.broken.size);
    if (to.broken.name.empty()) to.broken.name = std::move(entry.broken.name);
    for (const auto& [key, rank] : entry.first_rank) {
        const auto [at, is_first] = to.first_rank.try_emplace(key, rank);
        if (!is_first) at->second = std::min(at->second, rank);
    }
    while (to.first_rank.size() > most_kept)
        to.first_rank.erase(std::max_element(to.first_rank.begin(), to.first_rank.end(),
                                             [](const auto& a, const auto& b) { return a.second < b.second; }));
}

// An id by members alone may be several communicators', and of two groups each has roots of its own.
void OrdersPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    if (profile.is_text) return;
    // An older library counts no collectives.
    for (const Call& call : profile.calls)
        has_holes_ |= call.family == Family::mpi && call.traffic == Traffic::collective && !call.is_ordered;
    has_holes_ |= profile.state != State::finalized || profile.drops.communicators != 0 || profile.drops.cells != 0;
    std::map<std::uint64_t, int> times;
    for (const Communicator& communicator : profile.communicators) ++times[communicator.id];
    for (const Communicator& c : profile.communicators) {
        if (c.id == 0 || c.is_id_ambiguous || c.is_inter || c.origin == Origin::self || c.size < 2) continue;
        if (times[c.id] != 1) continue;  // the same one met twice: each record has a part of it
        Entry entry;
        entry.broken = {
            .id = c.id, .name = c.name, .size = c.size, .is_world = c.origin == Origin::world, .members = {}};
        entry.members = 1;
        entry.first_rank[{c.collectives, c.order}] = profile.rank;
        take(c.id, std::move(entry));
    }
}

void OrdersPart::absorb(OrdersPart&& other) {
    has_holes_ |= other.has_holes_;
    for (auto& [id, entry] : other.entries_) take(id, std::move(entry));
}

void OrdersPart::finish(Finishing& end) {
    if (has_holes_) return;
    for (auto& [id, entry] : entries_) {
        if (entry.first_rank.size() < 2 || entry.members != entry.broken.size) continue;
        for (const auto& [key, rank] : entry.first_rank)
            entry.broken.members.push_back({.collectives = key.first, .order = key.second, .first_rank = rank});
        std::sort(entry.broken.members.begin(), entry.broken.members.end(),
                  [](const OrderOfMembers& a, const OrderOfMembers& b) { return a.first_rank < b.first_rank; });
        end.job.broken_orders.push_back(std::move(entry.broken));
    }
    std::stable_sort(end.job.broken_orders.begin(), end.job.broken_orders.end(),
                     [](const BrokenOrder& a, const BrokenOrder& b) { return a.is_world > b.is_world; });
}

}  // namespace mpiprof::report
