// The part `comms`: what happened on each communicator, added up over some of a job's ranks. A rank is a part of its
// own that is taken over like any other. The largest communicators are kept apart, as many as the bound says; the
// others are added up as one. Which these are does not depend on the order either: what is once left out could never
// come back.
#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "report/merge/keyed.h"
#include "report/merge/part.h"
#include "report/merge/site_keys.h"
#include "report/model/sorted.h"
#include "report/model/sums.h"

namespace mpiprof::report {
namespace {

bool is_kept_apart(CommKind kind) { return kind == CommKind::known || kind == CommKind::by_members; }

bool is_entered_by_all(Traffic traffic) { return traffic == Traffic::collective || traffic == Traffic::sync; }

class CommsPart {
  public:
    // At most so many communicators are kept apart.
    explicit CommsPart(std::size_t most) : most_(most) {}

    void add(const RankProfile& from);
    void absorb(CommsPart&& other);
    // Into Job::comms.
    void finish(Finishing& end);

  private:
    // What is kept apart, first what is worth it most.
    struct Key {
        bool is_not_world = true;
        std::uint64_t below = 0;  // how much smaller than the largest possible
        std::uint64_t mixed_id = 0;
        CommKind kind = CommKind::none;
        std::uint64_t id = 0;
        auto operator<=>(const Key&) const = default;
    };
    struct Entered {
        std::uint16_t call = 0;
        std::uint32_t ranks = 0;
        std::uint64_t fewest = 0, most = 0;
        std::uint32_t fewest_rank = 0, most_rank = 0;
    };
    struct Entry {
        Comm comm;  // without its sums and entries
        std::vector<CommSum> sums;
        std::vector<Entered> entered;
    };
    using Entries = std::map<Key, Entry>;

    static Key key_of(const Communicator& communicator);
    static Entries entries_of(const RankProfile& from);
    static void count_entries(const RankProfile& from, std::span<Entry* const> entry_of);
    static void merge(Entry& to, Entry&& from);
    void take(const Key& key, Entry&& entry);
    void take_as_other(Entry&& entry);

    std::size_t most_;
    Entries kept_;                      // known, by_members
    std::map<CommKind, Entry> others_;  // all that are together
    std::optional<Key> first_left_out_;
};

// The two sides of an intercommunicator see different sizes: it has none here.
CommsPart::Key CommsPart::key_of(const Communicator& communicator) {
    Key key{.kind = kind_of(communicator), .id = 0};
    if (!is_kept_apart(key.kind)) return key;
    key.id = communicator.id;
    key.is_not_world = communicator.origin != Origin::world;
    key.below = ~std::uint64_t{0} - (communicator.is_inter ? 0 : communicator.size);
    key.mixed_id = mix(communicator.id);
    return key;
}

CommsPart::Entries CommsPart::entries_of(const RankProfile& from) {
    const Profile& profile = from.profile;
    Entries entries;
    std::vector<Entry*> entry_of;
    std::map<Key, std::set<std::uint32_t>> seats;
    const auto entry_for = [&](const Key& key, const Communicator& communicator) {
        const auto [found, is_new] = entries.try_emplace(key);
        Comm& comm = found->second.comm;
        entry_of.push_back(&found->second);
        if (key.kind == CommKind::known && seats[key].insert(communicator.rank).second && !is_new) ++comm.seats;
        if (!is_new) return;
        const bool is_one = is_kept_apart(key.kind);
        comm.kind = key.kind;
        comm.id = key.id;
        comm.parent = is_one ? communicator.parent : 0;
        comm.name = is_one || key.kind == CommKind::self ? communicator.name : "";
        if (communicator.made_by && is_one) comm.made_by = profile.calls[*communicator.made_by].name;
        comm.size = is_one || key.kind == CommKind::self ? communicator.size : 0;
        comm.members = comm.seats = 1;
        comm.first_rank = comm.largest_rank = profile.rank;
        comm.communicators = is_one || key.kind == CommKind::self ? 1 : 0;
        comm.is_world = is_one && communicator.origin == Origin::world;
        comm.is_inter = is_one && communicator.is_inter;
    };
    entry_for({.kind = CommKind::none, .id = 0}, {.made_by = {}, .name = {}});
    for (std::size_t i = 1; i < profile.communicators.size(); ++i)
        if (profile.communicators[i].is_unused)  // no cell names it
            entry_of.push_back(entry_of.front());
        else
            entry_for(key_of(profile.communicators[i]), profile.communicators[i]);
    for (const Cell& cell : profile.cells) {
        Entry& entry = *entry_of[cell.communicator < entry_of.size() ? cell.communicator : 0];
        entry.comm.largest_ns += cell.time_ns;
        add_sum(entry.sums, {.call = from.calls[cell.call],
                             .bin = cell.bin,
                             .calls = cell.calls,
                             .bytes = cell.bytes,
                             .time_ns = cell.time_ns,
                             .errors = cell.errors});
    }
    count_entries(from, entry_of);
    return entries;
}

void CommsPart::count_entries(const RankProfile& from, std::span<Entry* const> entry_of) {
    const Profile& profile = from.profile;
    const auto count = [&](std::uint16_t call, std::uint16_t communicator, std::uint64_t n) {
        if (communicator >= entry_of.size() || !is_entered_by_all(profile.calls[call].traffic)) return;
        Entry& entry = *entry_of[communicator];
        if (entry.comm.kind != CommKind::known) return;
        add_sorted(entry.entered,
                   Entered{.call = from.calls[call],
                           .ranks = 1,
                           .fewest = n,
                           .most = n,
                           .fewest_rank = profile.rank,
                           .most_rank = profile.rank},
                   ordered_by(&Entered::call),
                   [](Entered& to, const Entered& more) { to.fewest = to.most = to.most + more.most; });
    };
    for (const Cell& cell : profile.cells) count(cell.call, cell.communicator, cell.calls + cell.errors);
    if (profile.state == State::finalized) return;
    for (const Thread& thread : profile.threads)
        if (thread.in_call) count(*thread.in_call, thread.in_communicator, 1);
}

void CommsPart::merge(Entry& to, Entry&& from) {
    Comm& comm = to.comm;
    if (std::tie(comm.largest_ns, from.comm.largest_rank) < std::tie(from.comm.largest_ns, comm.largest_rank)) {
        comm.largest_ns = from.comm.largest_ns;
        comm.largest_rank = from.comm.largest_rank;
    }
    if (from.comm.first_rank < comm.first_rank) {  // names and parents are as its lowest rank has them
        comm.first_rank = from.comm.first_rank;
        comm.name = std::move(from.comm.name);
        comm.made_by = std::move(from.comm.made_by);
        comm.parent = from.comm.parent;
        comm.size = from.comm.size;
    }
    comm.members += from.comm.members;
    comm.seats += from.comm.seats;
    if (!is_kept_apart(comm.kind)) comm.communicators += from.comm.communicators;
    for (const CommSum& sum : from.sums) add_sum(to.sums, sum);
    for (const Entered& entered : from.entered)
        add_sorted(to.entered, entered, ordered_by(&Entered::call), [](Entered& a, const Entered& b) {
            a.ranks += b.ranks;
            if (std::tie(b.fewest, b.fewest_rank) < std::tie(a.fewest, a.fewest_rank))
                std::tie(a.fewest, a.fewest_rank) = std::tie(b.fewest, b.fewest_rank);
            if (std::tie(a.most, b.most_rank) < std::tie(b.most, a.most_rank))
                std::tie(a.most, a.most_rank) = std::tie(b.most, b.most_rank);
        });
}

void CommsPart::take_as_other(Entry&& entry) {
    Comm& comm = entry.comm;
    if (is_kept_apart(comm.kind)) {
        comm = {.kind = CommKind::other,
                .members = comm.members,
                .seats = comm.seats,
                .first_rank = comm.first_rank,
                .communicators = 0,
                .largest_ns = comm.largest_ns,
                .largest_rank = comm.largest_rank};
        entry.entered.clear();
    }
    const auto [found, is_new] = others_.try_emplace(comm.kind, std::move(entry));
    if (!is_new) merge(found->second, std::move(entry));
}

void CommsPart::take(const Key& key, Entry&& entry) {
    if (!is_kept_apart(key.kind) || (first_left_out_ && !(key < *first_left_out_)))
        return take_as_other(std::move(entry));
    const auto [found, is_new] = kept_.try_emplace(key, std::move(entry));
    if (!is_new) merge(found->second, std::move(entry));
    if (kept_.size() <= most_) return;
    const auto last = std::prev(kept_.end());
    first_left_out_ = last->first;
    take_as_other(std::move(last->second));
    kept_.erase(last);
}

void CommsPart::add(const RankProfile& from) {
    for (auto& [key, entry] : entries_of(from)) take(key, std::move(entry));
}

void CommsPart::absorb(CommsPart&& other) {
    for (auto& [kind, entry] : other.others_) take_as_other(std::move(entry));
    for (auto& [key, entry] : other.kept_) take(key, std::move(entry));
}

void CommsPart::finish(Finishing& end) {
    std::vector<Comm>& comms = end.job.comms;
    const auto finished = [&](Entry& entry) {
        Comm& comm = comms.emplace_back(std::move(entry.comm));
        comm.sums = std::move(entry.sums);
        for (CommSum& sum : comm.sums) sum.call = end.order[sum.call];
        sort_by(comm.sums, &CommSum::call, &CommSum::bin);
        for (const Entered& entered : entry.entered) {
            const bool by_all = entered.ranks == comm.members;
            comm.entries.push_back({.call = end.order[entered.call],
                                    .fewest = by_all ? entered.fewest : 0,
                                    .most = entered.most,
                                    .fewest_rank = by_all ? std::optional(entered.fewest_rank) : std::nullopt,
                                    .most_rank = entered.most_rank});
        }
        sort_by(comm.entries, &CommEntries::call);
    };
    for (auto& [key, entry] : kept_) finished(entry);
    std::sort(comms.begin(), comms.end(), [](const Comm& a, const Comm& b) {
        return std::make_tuple(!a.is_world, a.first_rank, a.kind, a.id) <
               std::make_tuple(!b.is_world, b.first_rank, b.kind, b.id);
    });
    for (auto& [kind, entry] : others_) finished(entry);
    // What has no calls says nothing.
    std::erase_if(comms, [](const Comm& comm) { return comm.kind == CommKind::none && comm.sums.empty(); });
}

}  // namespace

std::unique_ptr<MergePart> comms_part(std::size_t most) { return std::make_unique<PartOf<CommsPart>>(most); }
std::unique_ptr<MergePart> comms_part() { return comms_part(4096); }

}  // namespace mpiprof::report
