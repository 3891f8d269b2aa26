// All members keep the same calls, of larger jobs fewer of them, so that it all fits into memory.
#include "report/merge/arrivals.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <tuple>
#include <utility>

#include "libmpiprof/format/arrivals.h"
#include "report/merge/site_keys.h"
#include "report/merge/waits.h"
#include "report/model/ratio.h"

namespace mpiprof::report {
namespace {

constexpr std::uint64_t most_kept = std::uint64_t{1} << 21;  // calls of MPI_COMM_WORLD over all ranks: 64 MiB
constexpr std::uint64_t others_keep = 8;                     // of other communicators a rank keeps so much less

constexpr std::uint64_t latest_start = std::uint64_t{1} << 58;  // of a damaged file, too

// How many times as few calls are taken of a communicator, as a power of two: the same for all its members.
unsigned thinning(bool is_world, std::uint32_t ranks) {
    const std::uint64_t all = most_kept / (is_world ? 1 : others_keep) / std::max(ranks, 1u);
    const std::uint64_t each = std::clamp<std::uint64_t>(all, 2, format::arrivals_kept);
    return static_cast<unsigned>(std::bit_width((format::arrivals_kept - 1) / each));
}

using KindKey = std::tuple<std::uint16_t, std::uint8_t, Buffer, std::uint64_t>;

// What all of the rank's calls on this communicator took.
std::map<KindKey, std::uint32_t> add_kinds(MemberCalls& member, const RankProfile& from, std::uint16_t communicator,
                                           SiteKeys& keys) {
    std::map<KindKey, std::uint32_t> kinds;
    const Profile& profile = from.profile;
    for (const Cell& cell : profile.cells) {
        if (cell.communicator != communicator || !profile.calls[cell.call].is_ordered) continue;
        const auto wait = wait_of(profile, cell, from.calls[cell.call]);
        if (!wait) continue;
        const KindKey key{cell.call, cell.bin, cell.buffer, keys.of(cell.call, cell.site)};
        const auto [found, is_new] = kinds.try_emplace(key, static_cast<std::uint32_t>(member.kinds.size()));
        if (is_new)
            member.kinds.push_back({.all = *wait, .site_key = std::get<3>(key)});
        else
            member.kinds[found->second].all += *wait;
        MemberCalls::Kind& kind = member.kinds[found->second];
        kind.longest_ns = std::max(kind.longest_ns, cell.max_ns);
    }
    return kinds;
}

MemberCalls member_of(const RankProfile& from, const KeptCalls& kept, SiteKeys& keys) {
    const Profile& profile = from.profile;
    const Communicator& communicator = profile.communicators[kept.communicator];
    MemberCalls member{.rank = profile.rank,
                       .rank_in_comm = communicator.rank,
                       .started_ns = static_cast<std::int64_t>(std::min(profile.started_monotonic_ns, latest_start)),
                       .kinds = {},
                       .kept = {}};
    const auto kinds = add_kinds(member, from, kept.communicator, keys);
    const unsigned thinned = thinning(communicator.origin == Origin::world, profile.size);
    const unsigned level = format::arrival_level(communicator.collectives) + thinned;
    member.kept.reserve(std::min<std::size_t>(kept.calls.size(), format::arrivals_kept >> thinned));
    for (const KeptCall& call : kept.calls) {
        if (format::arrival_of_block(call.number >> level, level) != call.number) continue;
        const auto kind = kinds.find({call.call, call.bin, call.buffer, keys.of(call.call, call.site)});
        if (kind != kinds.end())
            member.kept.push_back({call.number, call.begin_ns, call.time_ns, call.root, kind->second});
    }
    return member;
}

}  // namespace

void ArrivalsPart::take(std::uint64_t id, Communicator&& from) {
    const auto [found, is_new] = communicators_.try_emplace(id, std::move(from));
    if (is_new) return;
    Communicator& to = found->second;
    to.size = std::max(to.size, from.size);
    if (from.first_rank < to.first_rank) {
        to.first_rank = from.first_rank;
        to.name = std::move(from.name);
    }
    to.members.insert(to.members.end(), std::make_move_iterator(from.members.begin()),
                      std::make_move_iterator(from.members.end()));
}

// An id by members alone may be several communicators', and a rank may have met one twice: then its numbers begin
// anew.
void ArrivalsPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    if (profile.kept_calls.empty() || profile.drops.cells != 0) return;
    SiteKeys keys(profile);
    for (const KeptCalls& kept : profile.kept_calls) {
        const report::Communicator& communicator = profile.communicators[kept.communicator];
        const auto times = std::count_if(profile.communicators.begin(), profile.communicators.end(),
                                         [&](const report::Communicator& c) { return c.id == communicator.id; });
        if (communicator.id == 0 || communicator.is_id_ambiguous || communicator.is_inter || times != 1) continue;
        Communicator one{.name = communicator.name,
                         .is_world = communicator.origin == Origin::world,
                         .size = communicator.size,
                         .first_rank = profile.rank,
                         .members = {}};
        one.members.push_back(member_of(from, kept, keys));
        take(communicator.id, std::move(one));
    }
}

void ArrivalsPart::absorb(ArrivalsPart&& other) {
    for (auto& [id, communicator] : other.communicators_) take(id, std::move(communicator));
}

namespace {

// Each member once, each on its seat.
bool is_complete(const std::vector<MemberCalls>& members, std::uint32_t size) {
    if (members.size() != size || size < 2) return false;
    for (std::uint32_t i = 0; i < size; ++i)
        if (members[i].rank_in_comm != i) return false;
    return true;
}

// The estimate of these calls gives way to what was seen.
void correct(Finishing& end, const MemberCalls& member) {
    Job& job = end.job;
    const auto rank = std::lower_bound(job.ranks.begin(), job.ranks.end(), member.rank,
                                       [](const Rank& r, std::uint32_t wanted) { return r.rank < wanted; });
    for (const MemberCalls::Kind& kind : member.kinds) {
        if (kind.compared_ns <= 0) continue;
        const auto estimated = end.floors.of({&kind.all, 1});
        const Correction correction{
            .call = kind.all.key.call,
            .estimated = estimated,
            .waiting_ns = whole_ns(static_cast<double>(kind.all.time_ns) * kind.waited_ns / kind.compared_ns),
            .time_ns = kind.all.time_ns};
        correction.apply(row_of(end, kind.all.key));
        if (rank != job.ranks.end() && rank->rank == member.rank && job.size <= WaitsPart::most_ranks)
            correction.apply(*rank);
        end.corrections[kind.site_key] += correction;
    }
}

}  // namespace

void ArrivalsPart::finish(Finishing& end) {
    Job& job = end.job;
    std::vector<const Call*> calls(end.order.size());
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i] = &job.calls[end.order[i]];
    Comparison& result = job.comparison;

    NodeClocks clocks(job.ranks.empty() ? 0 : job.ranks.front().node);
    std::vector<std::pair<const std::pair<const std::uint64_t, Communicator>*, CallComparison>> comparisons;
    for (auto& [id, communicator] : communicators_) {
        auto& members = communicator.members;
        std::sort(members.begin(), members.end(), [](const MemberCalls& a, const MemberCalls& b) {
            return std::tie(a.rank_in_comm, a.rank) < std::tie(b.rank_in_comm, b.rank);
        });
        if (!is_complete(members, communicator.size)) {
            ++result.incomplete;
            continue;
        }
        for (MemberCalls& member : members)
            if (const Rank* rank = job.find(member.rank)) member.node = rank->node;
        comparisons.emplace_back(&*communicators_.find(id), CallComparison(members, calls));
        comparisons.back().second.bound(clocks);
    }
    clocks.solve();
    for (std::uint32_t node = 0; node < job.nodes.size(); ++node) {
        if (!clocks.knows(node) || node == clocks.reference()) continue;
        ++result.nodes;
        result.clock_error_ns = std::max(result.clock_error_ns, clocks.error_ns(node));
    }
    for (auto& [entry, comparison] : comparisons) {
        const auto& [id, communicator] = *entry;
        if (!comparison.can_line_up(clocks)) {
            ++result.not_lined_up;
            continue;
        }
        for (ComparedCall& line : comparison.line_up(clocks)) {
            line.comm = id;
            line.comm_name = communicator.name;
            line.is_world = communicator.is_world;
            line.call = end.order[line.call];
            result.calls.push_back(std::move(line));
        }
        for (const MemberCalls& member : communicator.members) correct(end, member);
    }
    std::stable_sort(result.calls.begin(), result.calls.end(), [](const ComparedCall& a, const ComparedCall& b) {
        return std::tie(b.waiting_ns, b.time_ns, a.comm, a.call) < std::tie(a.waiting_ns, a.time_ns, b.comm, b.call);
    });
}

}  // namespace mpiprof::report
