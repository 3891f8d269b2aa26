// Of those that differ the ones with the lowest ranks are kept: which these are does not depend on the order of
// merging.
#include "report/merge/orders.h"

#include <algorithm>
#include <utility>

namespace mpiprof::report {
namespace {

constexpr std::size_t most_communicators = 100'000;
constexpr std::size_t most_sequences = 8;    // of a communicator
constexpr std::size_t most_steps = 1 << 18;  // of all: 6 MiB

}  // namespace

void OrdersPart::take(std::uint64_t id, Entry&& entry) {
    if (entries_.size() >= most_communicators && !entries_.contains(id)) return;
    const auto [found, is_new] = entries_.try_emplace(id, std::move(entry));
    if (is_new) return;
    Entry& to = found->second;
    to.members += entry.members;
    to.orders.size = std::max(to.orders.size, entry.orders.size);
    if (to.orders.name.empty()) to.orders.name = std::move(entry.orders.name);
    for (auto& [key, sequence] : entry.sequences) {
        const auto [at, is_first] = to.sequences.try_emplace(key, std::move(sequence));
        if (is_first || sequence.first_rank > at->second.first_rank) continue;
        if (sequence.steps.empty() && !at->second.steps.empty())
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

void OrdersPart::keep_steps(const RankProfile& from, const KeptCalls& kept, Sequence& sequence) {
    const Profile& profile = from.profile;
    std::map<std::uint32_t, std::uint32_t> spots;  // by site
    sequence.spots = {Spot{}};
    for (const KeptCall& call : kept.calls) {
        const bool is_known = call.site < profile.sites.size() && !profile.sites[call.site].frames.empty();
        std::uint32_t spot = 0;
        if (is_known) {
            const auto [found, is_new] = spots.try_emplace(call.site, sequence.spots.size());
            spot = found->second;
            const Frame& frame = profile.sites[call.site].frames.front();
            if (is_new && frame.module != 0 && frame.module < profile.modules.size())
                sequence.spots.push_back({.module = profile.modules[frame.module], .offset = frame.offset});
            else if (is_new)
                found->second = spot = 0;
        }
        sequence.steps.push_back({.number = call.number,
                                  .root = profile.calls[call.call].has_root ? call.root : any_rank,
                                  .call = from.calls[call.call],
                                  .place = spot});
    }
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
        for (const KeptCalls& kept : profile.kept_calls)
            if (kept.communicator == i && wants_steps(c.id, key, profile.rank)) keep_steps(from, kept, sequence);
        steps_ += sequence.steps.size();
        take(c.id, std::move(entry));
    }
}

void OrdersPart::absorb(OrdersPart&& other) {
    has_holes_ |= other.has_holes_;
    steps_ += other.steps_;
    for (auto& [id, entry] : other.entries_) take(id, std::move(entry));
}

// Places and modules that the job has already are found again: there are a few.
OrderOfMembers OrdersPart::members_of(const Key& key, const Sequence& sequence, Finishing& end) {
    Job& job = end.job;
    std::vector<std::uint32_t> places(sequence.spots.size());
    for (std::size_t i = 1; i < places.size(); ++i) {
        const Spot& spot = sequence.spots[i];
        const auto module = std::find_if(job.modules.begin() + 1, job.modules.end(), [&](const Module& m) {
            return m.path == spot.module.path && m.build_id == spot.module.build_id;
        });
        const Place wanted{.module = static_cast<std::uint32_t>(module - job.modules.begin()), .offset = spot.offset};
        if (module == job.modules.end()) job.modules.push_back(spot.module);
        const auto place = std::find_if(job.places.begin() + 1, job.places.end(), [&](const Place& p) {
            return p.module == wanted.module && p.offset == wanted.offset;
        });
        places[i] = static_cast<std::uint32_t>(place - job.places.begin());
        if (place == job.places.end()) job.places.push_back(wanted);
    }
    OrderOfMembers members{.collectives = key.first, .order = key.second, .first_rank = sequence.first_rank};
    for (OrderedStep step : sequence.steps) {
        step.call = end.order[step.call];
        step.place = places[step.place];
        members.steps.push_back(step);
    }
    return members;
}

void OrdersPart::finish(Finishing& end) {
    for (auto& [id, entry] : entries_) {
        if (entry.sequences.size() < 2) continue;
        Orders orders = std::move(entry.orders);
        orders.is_broken = !has_holes_ && entry.members == orders.size;
        for (const auto& [key, sequence] : entry.sequences) orders.members.push_back(members_of(key, sequence, end));
        std::sort(orders.members.begin(), orders.members.end(),
                  [](const OrderOfMembers& a, const OrderOfMembers& b) { return a.first_rank < b.first_rank; });
        end.job.orders.push_back(std::move(orders));
    }
    std::stable_sort(end.job.orders.begin(), end.job.orders.end(),
                     [](const Orders& a, const Orders& b) { return a.is_world > b.is_world; });
}

}  // namespace mpiprof::report
