// Of those that differ the ones with the lowest ranks are kept: which these are does not depend on the order of
// merging.
#include "report/merge/orders.h"

#include <algorithm>
#include <utility>

namespace mpiprof::report {
namespace {

constexpr std::size_t most_communicators = 100'000;
constexpr std::size_t most_sequences = 8;    // of a communicator
constexpr std::size_t most_steps = 1 << 18;  // of all: 12 MiB

}  // namespace

void OrdersPart::take(std::uint64_t id, Entry&& entry) {
    if (entries_.size() >= most_communicators && !entries_.contains(id)) return;
    const auto [found, is_new] = entries_.try_emplace(id, std::move(entry));
    if (is_new) return;
    Entry& to = found->second;
    to.members += entry.members;
    to.orders.size = std::max(to.orders.size, entry.orders.size);
    to.orders.is_enqueued |= entry.orders.is_enqueued;
    if (to.orders.name.empty()) to.orders.name = std::move(entry.orders.name);
    for (auto& [key, sequence] : entry.sequences) {
        const auto [at, is_first] = to.sequences.try_emplace(key, std::move(sequence));
        if (is_first || sequence.first_rank > at->second.first_rank) continue;
        if (sequence.kept.steps.empty() && !at->second.kept.steps.empty())
            at->second.first_rank = sequence.first_rank;
        else
            at->second = std::move(sequence);
    }
    while (to.sequences.size() > most_sequences)
        to.sequences.erase(std::max_element(to.sequences.begin(), to.sequences.end(), [](const auto& a, const auto& b) {
            return a.second.first_rank < b.second.first_rank;
        }));
}

// Of ranks that have made the same, one is enough.
bool OrdersPart::wants_steps(std::uint64_t id, const Key& key, std::uint32_t rank) const {
    if (steps_ >= most_steps) return false;
    const auto entry = entries_.find(id);
    if (entry == entries_.end()) return true;
    const auto sequence = entry->second.sequences.find(key);
    return sequence == entry->second.sequences.end() || rank < sequence->second.first_rank;
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
    for (std::size_t i = 0; i < profile.communicators.size(); ++i) {
        const Communicator& c = profile.communicators[i];
        if (c.id == 0 || c.is_id_ambiguous || c.is_inter || c.origin == Origin::self || c.size < 2) continue;
        if (times[c.id] != 1) continue;  // the same one met twice: each record has a part of it
        Entry entry;
        entry.orders = {
            .id = c.id, .name = c.name, .size = c.size, .is_world = c.origin == Origin::world, .members = {}};
        entry.members = 1;
        const Key key{c.collectives, c.order};
        Sequence& sequence = entry.sequences[key];
        sequence.first_rank = profile.rank;
        for (const auto* list : {&profile.kept_calls, &profile.enqueued})
            for (const KeptCalls& kept : *list) {
                if (kept.communicator != i) continue;
                entry.orders.is_enqueued = list == &profile.enqueued;
                if (wants_steps(c.id, key, profile.rank)) sequence.kept = kept_steps(from, kept);
            }
        steps_ += sequence.kept.steps.size();
        take(c.id, std::move(entry));
    }
}

void OrdersPart::absorb(OrdersPart&& other) {
    has_holes_ |= other.has_holes_;
    steps_ += other.steps_;
    for (auto& [id, entry] : other.entries_) take(id, std::move(entry));
}

void OrdersPart::finish(Finishing& end) {
    for (auto& [id, entry] : entries_) {
        if (entry.sequences.size() < 2) continue;
        Orders orders = std::move(entry.orders);
        orders.is_broken = !has_holes_ && entry.members == orders.size;
        for (const auto& [key, sequence] : entry.sequences)
            orders.members.push_back({.collectives = key.first,
                                      .order = key.second,
                                      .first_rank = sequence.first_rank,
                                      .steps = steps_of(sequence.kept, end)});
        std::sort(orders.members.begin(), orders.members.end(),
                  [](const OrderOfMembers& a, const OrderOfMembers& b) { return a.first_rank < b.first_rank; });
        end.job.orders.push_back(std::move(orders));
    }
    std::stable_sort(end.job.orders.begin(), end.job.orders.end(),
                     [](const Orders& a, const Orders& b) { return a.is_world > b.is_world; });
}

}  // namespace mpiprof::report
