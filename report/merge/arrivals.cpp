// The part `arrivals`: the collectives that all members of a communicator have kept with their times. From them, how
// long ranks waited for each other, in place of what floors.h can only estimate, and who came last. All members keep
// the same calls, of larger jobs fewer of them, so that it all fits into memory.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "libmpiprof/format/arrivals.h"
#include "report/merge/blocks.h"
#include "report/merge/call_comparison.h"
#include "report/merge/keyed.h"
#include "report/merge/part.h"
#include "report/model/ratio.h"
#include "report/model/sorted.h"

namespace mpiprof::report {
namespace {

constexpr std::uint64_t most_kept = std::uint64_t{1} << 21;  // calls of MPI_COMM_WORLD over all ranks: 64 MiB
constexpr std::uint64_t others_keep = 8;                     // of other communicators a rank keeps so much less

// Of many ranks, whose collectives take most of a merge, so many of a communicator's calls are compared at most, and
// half of them at least where there are more: twice the standard error is then 18 to 25 % of how much the waiting
// differs from call to call.
constexpr std::uint32_t many_ranks = 1024;
constexpr std::uint64_t taken_of_many = 128;

constexpr std::uint64_t latest_start = std::uint64_t{1} << 58;  // of a damaged file, too

// How many times as few of the kept calls are taken of a communicator, as a power of two: the same for all its members.
// What they say of all calls errs as a sample of so many does, however many its members are.
unsigned thinning_of(const report::Communicator& communicator, std::uint32_t ranks) {
    if (communicator.collectives == 0) return 0;
    const bool is_world = communicator.origin == Origin::world;
    const std::uint64_t by_memory = most_kept / (is_world ? 1 : others_keep) / std::max(ranks, 1u);
    const std::uint64_t enough = ranks > many_ranks ? taken_of_many : format::arrivals_kept;
    const std::uint64_t each = std::clamp<std::uint64_t>(by_memory, 2, enough);
    const std::uint64_t behind_first =
        (communicator.collectives - 1) >> format::arrival_level(communicator.collectives);
    return static_cast<unsigned>(std::bit_width(behind_first / each));
}

using KindKey = std::tuple<std::uint16_t, std::uint8_t, Buffer, std::uint64_t>;
using KindNumbers = std::vector<std::pair<KindKey, std::uint32_t>>;  // by key

KindNumbers::const_iterator place_of(const KindNumbers& kinds, const KindKey& key) {
    return std::lower_bound(kinds.begin(), kinds.end(), key,
                            [](const auto& kind, const KindKey& wanted) { return kind.first < wanted; });
}

// What all of the rank's calls on this communicator took.
KindNumbers add_kinds(MemberCalls& member, const RankProfile& from, std::uint16_t communicator) {
    KindNumbers kinds;
    const Profile& profile = from.profile;
    const auto cells =
        static_cast<std::size_t>(std::count_if(profile.cells.begin(), profile.cells.end(), [&](const Cell& cell) {
            return cell.communicator == communicator && profile.calls[cell.call].is_ordered;
        }));
    kinds.reserve(cells);
    member.kinds.reserve(cells);
    for (const Cell& cell : profile.cells) {
        if (cell.communicator != communicator || !profile.calls[cell.call].is_ordered) continue;
        const auto wait = wait_of(profile, cell, from.calls[cell.call]);
        if (!wait) continue;
        const KindKey key{cell.call, cell.bin, cell.buffer, from.site_keys.of(cell.call, cell.site)};
        auto found = place_of(kinds, key);
        if (found == kinds.end() || found->first != key) {
            if (member.kinds.size() == MemberCalls::Kept::most_kinds) continue;
            found = kinds.insert(found, {key, static_cast<std::uint32_t>(member.kinds.size())});
            member.kinds.push_back({.all = *wait, .site_key = std::get<3>(key)});
        } else {
            member.kinds[found->second].all += *wait;
        }
        MemberCalls::Kind& kind = member.kinds[found->second];
        kind.longest_ns = std::max(kind.longest_ns, cell.max_ns);
    }
    return kinds;
}

// The kinds of the calls that are kept, most of which are one of a few: these are found without a search.
class KindOf {
  public:
    KindOf(const KindNumbers& kinds, SiteKeys& keys) : kinds_(kinds), keys_(keys) {}
    static constexpr std::uint32_t none = 0xffffffff;
    std::uint32_t operator()(const KeptCall& call) {
        const std::uint64_t key = std::uint64_t{call.site} << 32 | std::uint64_t{call.call} << 16 |
                                  std::uint64_t{call.bin} << 8 | static_cast<std::uint64_t>(call.buffer);
        Known& known = known_[mix_short(key)];
        return known.key == key ? known.kind : look_up(call, known, key);
    }

  private:
    struct Known {
        std::uint64_t key = ~std::uint64_t{0};  // no call has it: of a buffer that there is not
        std::uint32_t kind = none;
    };
    static constexpr unsigned bits = 6;
    static std::size_t mix_short(std::uint64_t key) { return key * 0x9e3779b97f4a7c15 >> (64 - bits); }
    std::uint32_t look_up(const KeptCall& call, Known& known, std::uint64_t key) {
        const KindKey wanted{call.call, call.bin, call.buffer, keys_.of(call.call, call.site)};
        const auto found = place_of(kinds_, wanted);
        known = {key, found == kinds_.end() || found->first != wanted ? none : found->second};
        return known.kind;
    }

    const KindNumbers& kinds_;
    SiteKeys& keys_;
    std::array<Known, std::size_t{1} << bits> known_;
};

MemberCalls member_of(const RankProfile& from, const KeptCalls& kept) {
    const Profile& profile = from.profile;
    const Communicator& communicator = profile.communicators[kept.communicator];
    MemberCalls member{.rank = profile.rank,
                       .rank_in_comm = communicator.rank,
                       .started_ns = static_cast<std::int64_t>(std::min(profile.started_monotonic_ns, latest_start))};
    const auto kinds = add_kinds(member, from, kept.communicator);
    const unsigned thinned = thinning_of(communicator, profile.size);
    const unsigned level = format::arrival_level(communicator.collectives);
    KindOf kind_of(kinds, from.site_keys);
    const auto is_taken = [&](const KeptCall& call) {
        return format::is_arrival_still(call.number, level, level + thinned);
    };
    member.kept.reserve(static_cast<std::size_t>(std::count_if(kept.calls.begin(), kept.calls.end(), is_taken)));
    for (const KeptCall& call : kept.calls) {
        if (!is_taken(call)) continue;
        const std::uint32_t kind = kind_of(call);
        if (kind != KindOf::none) member.kept.emplace_back(call.number, call.begin_ns, call.time_ns, call.root, kind);
    }
    return member;
}

class ArrivalsPart {
  public:
    void add(const RankProfile& from);
    unsigned thinning(const Profile& profile, const report::Communicator& communicator) const {
        return may_compare(profile, communicator) ? thinning_of(communicator, profile.size) : no_kept_calls;
    }
    void absorb(ArrivalsPart&& other) { communicators_.absorb(std::move(other.communicators_)); }
    // Into Job::comparison, and over what the part `waits` has said of the same calls.
    void finish(Finishing& end);

  private:
    using SharedKey = std::tuple<std::uint16_t, std::uint8_t, Buffer, std::uint64_t>;  // call of the registry
    struct Communicator {
        std::string name;
        bool is_world = false;
        std::uint32_t size = 0;
        std::uint32_t first_rank = 0;  // whose name it has
        Blocks<MemberCalls> members{};
        std::vector<MemberCalls> in_order{};  // the same, when all are known
        // Of jobs so large that nothing is said rank by rank: the kinds of all members together, whose numbers their
        // calls have.
        std::vector<MemberCalls::Kind> shared{};
        std::map<SharedKey, std::uint16_t> numbers{};

        Communicator& operator+=(Communicator&& more);
        void take_kinds(std::span<const MemberCalls::Kind> kinds, Blocks<MemberCalls>& of);
        std::uint16_t add_shared(const MemberCalls::Kind& kind);
    };

    static bool may_compare(const Profile& profile, const report::Communicator& communicator);

    Keyed<std::uint64_t, Communicator> communicators_;  // by id
};

// An id by members alone may be several communicators', and a rank may have met one twice: then its numbers begin
// anew.
bool ArrivalsPart::may_compare(const Profile& profile, const report::Communicator& communicator) {
    if (profile.drops.cells != 0 || communicator.id == 0 || communicator.is_id_ambiguous || communicator.is_inter)
        return false;
    return std::count_if(profile.communicators.begin(), profile.communicators.end(),
                         [&](const report::Communicator& c) { return c.id == communicator.id; }) == 1;
}

ArrivalsPart::Communicator& ArrivalsPart::Communicator::operator+=(Communicator&& more) {
    size = std::max(size, more.size);
    if (more.first_rank < first_rank) {
        first_rank = more.first_rank;
        name = std::move(more.name);
    }
    if (!more.shared.empty()) take_kinds(more.shared, more.members);
    members.absorb(std::move(more.members));
    return *this;
}

// A damaged file may have any number of kinds, and gets one that others have.
std::uint16_t ArrivalsPart::Communicator::add_shared(const MemberCalls::Kind& kind) {
    const WaitKey& key = kind.all.key;
    if (shared.size() == MemberCalls::Kept::most_kinds) return 0;
    const auto next = static_cast<std::uint16_t>(shared.size());
    const auto [found, is_new] = numbers.try_emplace({key.call, key.bin, key.buffer, kind.site_key}, next);
    if (is_new) {
        shared.push_back(kind);
    } else {
        shared[found->second].all += kind.all;
        shared[found->second].longest_ns += kind.longest_ns;
    }
    return found->second;
}

// These members' kinds become those of all.
void ArrivalsPart::Communicator::take_kinds(std::span<const MemberCalls::Kind> kinds, Blocks<MemberCalls>& of) {
    std::vector<std::uint16_t> number_of;
    for (const MemberCalls::Kind& kind : kinds) number_of.push_back(add_shared(kind));
    of.each([&](MemberCalls& member) {
        for (MemberCalls::Kept& kept : member.kept) kept.kind = number_of[kept.kind];
        member.kinds = std::vector<MemberCalls::Kind>();
    });
}

void ArrivalsPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    if (profile.kept_calls.empty()) return;
    for (const KeptCalls& kept : profile.kept_calls) {
        const report::Communicator& communicator = profile.communicators[kept.communicator];
        if (!may_compare(profile, communicator)) continue;
        Communicator one{.name = communicator.name,
                         .is_world = communicator.origin == Origin::world,
                         .size = communicator.size,
                         .first_rank = profile.rank};
        MemberCalls member = member_of(from, kept);
        const std::vector<MemberCalls::Kind> kinds =
            profile.size > Floors::most_ranks ? member.kinds : std::vector<MemberCalls::Kind>();
        one.members.add(std::move(member));
        if (!kinds.empty()) one.take_kinds(kinds, one.members);
        communicators_.add(communicator.id, std::move(one));
    }
}

// Each member once, each on its seat.
bool is_complete(const std::vector<MemberCalls>& members, std::uint32_t size) {
    if (members.size() != size || size < 2) return false;
    for (std::uint32_t i = 0; i < size; ++i)
        if (members[i].rank_in_comm != i) return false;
    return true;
}

// The estimate of these calls gives way to what was seen.
void correct(Finishing& end, std::span<const MemberCalls::Kind> kinds, Rank* rank) {
    for (const MemberCalls::Kind& kind : kinds) {
        if (kind.compared_ns <= 0) continue;
        const auto estimated = end.floors.of({&kind.all, 1});
        const Correction correction{
            .call = kind.all.key.call,
            .estimated = estimated,
            .waiting_ns = whole_ns(static_cast<double>(kind.all.time_ns) * kind.waited_ns / kind.compared_ns),
            .time_ns = kind.all.time_ns};
        correction.apply(end.row_of(kind.all.key));
        if (rank) correction.apply(*rank);
        end.corrections[kind.site_key] += correction;
    }
}

void ArrivalsPart::finish(Finishing& end) {
    Job& job = end.job;
    std::vector<const Call*> calls(end.order.size());
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i] = &job.calls[end.order[i]];
    Comparison& result = job.comparison;

    NodeClocks clocks(job.ranks.empty() ? 0 : job.ranks.front().node);
    struct Compared {
        std::uint64_t id;
        const Communicator& communicator;
        CallComparison calls;
    };
    std::vector<Compared> comparisons;
    for (auto& [id, communicator] : communicators_) {
        auto& members = communicator.in_order;
        members = communicator.members.take();
        sort_by(members, &MemberCalls::rank_in_comm, &MemberCalls::rank);
        if (!is_complete(members, communicator.size)) {
            ++result.incomplete;
            members = std::vector<MemberCalls>();
            continue;
        }
        for (MemberCalls& member : members)
            if (const Rank* rank = job.find(member.rank)) member.node = rank->node;
        comparisons.push_back({id, communicator, CallComparison(members, calls, communicator.shared)});
        comparisons.back().calls.bound(clocks);
    }
    clocks.solve();
    for (std::uint32_t node = 0; node < job.nodes.size(); ++node) {
        if (!clocks.knows(node) || node == clocks.reference()) continue;
        ++result.nodes;
        result.clock_error_ns = std::max(result.clock_error_ns, clocks.error_ns(node));
    }
    double most_waiting_ns = 0;
    for (auto& [id, communicator, comparison] : comparisons) {
        if (!comparison.can_line_up(clocks)) {
            ++result.not_lined_up;
            continue;
        }
        double waiting_ns = 0;  // in the call that most of it is in
        for (ComparedCall& line : comparison.line_up(clocks)) {
            waiting_ns = std::max(waiting_ns, line.waiting_ns);
            line.comm = id;
            line.comm_name = communicator.name;
            line.is_world = communicator.is_world;
            line.call = end.order[line.call];
            result.calls.push_back(std::move(line));
        }
        if (waiting_ns > most_waiting_ns) {
            most_waiting_ns = waiting_ns;
            result.order = late_order_of(comparison.late_calls(), communicator.size);
        }
        correct(end, communicator.shared, nullptr);
        for (const MemberCalls& member : communicator.in_order)
            if (!member.kinds.empty()) correct(end, member.kinds, job.find(member.rank));
    }
    std::stable_sort(result.calls.begin(), result.calls.end(), [](const ComparedCall& a, const ComparedCall& b) {
        return std::tie(b.waiting_ns, b.time_ns, a.comm, a.call) < std::tie(a.waiting_ns, a.time_ns, b.comm, b.call);
    });
}

}  // namespace

std::unique_ptr<MergePart> arrivals_part() { return std::make_unique<PartOf<ArrivalsPart>>(); }

}  // namespace mpiprof::report
