// The part `orders`: whether the members of each communicator have made the same collectives in one order, and which
// those were that they have kept. Members that agree are added up at once, so a communicator takes a few numbers and
// the kept calls of one member, however many its members are. Of those that differ the ones with the lowest ranks are
// kept: which these are does not depend on the order of merging.
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "report/merge/kept_steps.h"
#include "report/merge/keyed.h"
#include "report/merge/part.h"
#include "report/model/hanging.h"
#include "report/model/sorted.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t most_communicators = 100'000;
constexpr std::size_t most_sequences = 8;    // of a communicator
constexpr std::size_t most_steps = 1 << 18;  // of all: 12 MiB

// An id by members alone may be several communicators', and of two groups each has roots of its own.
bool has_an_order(const Communicator& c) {
    return c.id != 0 && !c.is_id_ambiguous && !c.is_inter && c.origin != Origin::self && c.size >= 2;
}

class OrdersPart {
  public:
    void add(const RankProfile& from);
    // Of ranks that have made the same, one is enough, whole.
    unsigned thinning(const Profile& profile, const Communicator& communicator) const {
        const bool is_wanted =
            has_an_order(communicator) && wants_steps(communicator.id, key_of(communicator), profile.rank);
        return is_wanted ? 0 : no_kept_calls;
    }
    void absorb(OrdersPart&& other) {
        has_holes_ |= other.has_holes_;
        steps_ += other.steps_;
        entries_.absorb(std::move(other.entries_));
    }
    // Into Job::orders, places and modules.
    void finish(Finishing& end);

  private:
    using Key = std::pair<std::uint64_t, std::uint64_t>;  // collectives, order
    static Key key_of(const Communicator& communicator) { return {communicator.collectives, communicator.order}; }
    struct Sequence {
        std::uint32_t first_rank = 0;
        KeptSteps kept{};
    };
    struct Entry {
        Orders orders;  // without its members
        std::uint32_t members = 0;
        std::map<Key, Sequence> sequences;  // of those that agree

        Entry& operator+=(Entry&& more);
    };
    bool wants_steps(std::uint64_t id, const Key& key, std::uint32_t rank) const;

    Keyed<std::uint64_t, Entry, most_communicators> entries_;  // by id
    std::size_t steps_ = 0;
    bool has_holes_ = false;
};

OrdersPart::Entry& OrdersPart::Entry::operator+=(Entry&& more) {
    members += more.members;
    orders.size = std::max(orders.size, more.orders.size);
    orders.is_enqueued |= more.orders.is_enqueued;
    if (orders.name.empty()) orders.name = std::move(more.orders.name);
    for (auto& [key, sequence] : more.sequences) {
        const auto [at, is_first] = sequences.try_emplace(key, std::move(sequence));
        if (is_first || sequence.first_rank > at->second.first_rank) continue;
        if (sequence.kept.steps.empty() && !at->second.kept.steps.empty())
            at->second.first_rank = sequence.first_rank;
        else
            at->second = std::move(sequence);
    }
    while (sequences.size() > most_sequences)
        sequences.erase(std::max_element(sequences.begin(), sequences.end(), [](const auto& a, const auto& b) {
            return a.second.first_rank < b.second.first_rank;
        }));
    return *this;
}

bool OrdersPart::wants_steps(std::uint64_t id, const Key& key, std::uint32_t rank) const {
    if (steps_ >= most_steps) return false;
    const Entry* entry = entries_.find(id);
    if (!entry) return true;
    const auto sequence = entry->sequences.find(key);
    return sequence == entry->sequences.end() || rank < sequence->second.first_rank;
}

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
        if (!has_an_order(c)) continue;
        if (times[c.id] != 1) continue;  // the same one met twice: each record has a part of it
        Entry entry;
        entry.orders = {.id = c.id, .name = c.name, .size = c.size, .is_world = c.origin == Origin::world};
        entry.members = 1;
        const Key key = key_of(c);
        Sequence& sequence = entry.sequences[key];
        sequence.first_rank = profile.rank;
        for (const auto* list : {&profile.kept_calls, &profile.enqueued})
            for (const KeptCalls& kept : *list) {
                if (kept.communicator != i) continue;
                entry.orders.is_enqueued = list == &profile.enqueued;
                if (wants_steps(c.id, key, profile.rank)) sequence.kept = kept_steps(from, kept);
            }
        steps_ += sequence.kept.steps.size();
        entries_.add(c.id, std::move(entry));
    }
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
        sort_by(orders.members, &OrderOfMembers::first_rank);
        end.job.orders.push_back(std::move(orders));
    }
    std::stable_sort(end.job.orders.begin(), end.job.orders.end(),
                     [](const Orders& a, const Orders& b) { return a.is_world > b.is_world; });
}

}  // namespace

std::unique_ptr<MergePart> orders_part() { return std::make_unique<PartOf<OrdersPart>>(); }

}  // namespace mpiprof::report
