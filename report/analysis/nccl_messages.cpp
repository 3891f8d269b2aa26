// The two sides of each pair of ranks are put side by side; who has enqueued nothing for the other has no record.
#include "report/analysis/nccl_messages.h"

#include <algorithm>
#include <tuple>

#include "report/analysis/arrivals.h"
#include "report/analysis/hang_parties.h"

namespace mpiprof::report {
namespace {

// Null also of a process that is several members, one for each of its GPUs.
const Membership* membership(const Job& job, std::uint32_t group, std::uint32_t rank) {
    const auto found = all_with(memberships_of(job, group), rank, &Membership::rank);
    return found.size() == 1 ? &found.front() : nullptr;
}
const Membership* member_of(const Job& job, std::uint32_t group, std::uint32_t rank_in_group) {
    const auto members = memberships_of(job, group);
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](const Membership& m) { return m.rank_in_group == rank_in_group; });
    return found == members.end() ? nullptr : membership(job, group, found->rank);
}

EnqueuedWith with(const Job& job, std::uint32_t group, std::uint32_t rank, std::uint32_t peer) {
    const auto found = std::lower_bound(
        job.enqueued_with.begin(), job.enqueued_with.end(), std::tuple(group, rank, peer),
        [](const EnqueuedWith& a, const auto& key) { return std::tie(a.group, a.rank, a.peer) < key; });
    const bool is_there =
        found != job.enqueued_with.end() && found->group == group && found->rank == rank && found->peer == peer;
    return is_there ? *found : EnqueuedWith{};
}

// Each pair once, from either side, if use() does not end it.
template <class Use>
void each_pair(const Job& job, Use use) {
    for (const EnqueuedWith& one : job.enqueued_with) {
        const Membership* const self = membership(job, one.group, one.rank);
        const Membership* const peer = member_of(job, one.group, one.peer);
        if (!self || !peer || self == peer) continue;
        const EnqueuedWith other = with(job, one.group, peer->rank, self->rank_in_group);
        if (!use(UnevenMessages{one.group, one.rank, peer->rank, one.sent, other.received}) ||
            !use(UnevenMessages{one.group, peer->rank, one.rank, other.sent, one.received}))
            return;
    }
}

std::uint64_t quiet_for_both(const Job& job, const UnevenMessages& pair) {
    return std::min(quiet_for(job, pair.sender), quiet_for(job, pair.receiver));
}

// What says more comes first.
enum class Kind { even, is_elsewhere, not_received, not_sent };
Kind kind_of(const UnevenMessages& pair) {
    if (pair.received.messages > pair.sent.messages) return Kind::not_sent;
    if (pair.sent.messages > pair.received.messages) return Kind::not_received;
    return pair.sent.after == pair.received.after ? Kind::even : Kind::is_elsewhere;
}

std::uint16_t call_that_receives(const Job& job) {
    const auto found = std::find_if(job.calls.begin(), job.calls.end(), [](const Call& call) {
        return call.family == Family::nccl && call.traffic == Traffic::receive;
    });
    return static_cast<std::uint16_t>(found - job.calls.begin());
}

}  // namespace

std::optional<UnevenMessages> uneven_messages_of(const Job& job) {
    std::optional<UnevenMessages> worst;
    each_pair(job, [&](UnevenMessages pair) {
        const Kind kind = kind_of(pair);
        if (kind == Kind::even || (worst && kind <= kind_of(*worst))) return true;
        pair.for_ns = quiet_for_both(job, pair);
        if (pair.for_ns >= worth_a_word_ns) worst = pair;
        return kind_of(pair) != Kind::not_sent || !worst;
    });
    return worst;
}

std::optional<Hang> never_sent(const Job& job) {
    const std::vector<std::uint32_t> gone = never_come(job);
    if (gone.empty()) return std::nullopt;
    std::optional<Hang> hang;
    each_pair(job, [&](const UnevenMessages& pair) {
        const bool is_gone = std::binary_search(gone.begin(), gone.end(), pair.sender);
        const std::uint64_t quiet = quiet_for(job, pair.receiver);
        if (kind_of(pair) != Kind::not_sent || !is_gone || quiet < worth_a_word_ns) return true;
        hang = Hang{.kind = Hang::Kind::not_sent, .group = pair.group, .gone = {pair.sender}, .for_ns = quiet};
        hang->parties = {{.ranks = {pair.receiver},
                          .call = call_that_receives(job),
                          .place = pair.received.place,
                          .group = pair.group,
                          .has_passed = true}};
        return false;
    });
    return hang;
}

}  // namespace mpiprof::report
