// The share of waiting in the compared calls stands for that in all calls of the same kind: the calls that are kept are
// chosen by their number alone.
#include "report/merge/call_comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

namespace mpiprof::report {
namespace {

// Clocks of processes on one node agree this well: each turns its ticks into nanoseconds by anchors of its own.
constexpr double resolution_ns = 1000;
constexpr std::size_t most_last_ranks = 8;

std::uint64_t since(std::int64_t moment, std::int64_t start) {
    return moment > start ? static_cast<std::uint64_t>(moment - start) : 0;
}

std::vector<LastRank> last_ranks_of(const CallSums& sums, std::int64_t start) {
    std::vector<LastRank> ranks;
    for (const auto& [rank, last] : sums.last)
        ranks.push_back({.rank = rank,
                         .times = last.times,
                         .behind_ns = last.behind_ns / static_cast<double>(last.times),
                         .waited_ns = last.waited_ns,
                         .first_ns = since(last.first, start),
                         .latest_ns = since(last.latest, start)});
    std::stable_sort(ranks.begin(), ranks.end(), [](const LastRank& a, const LastRank& b) {
        return std::tie(a.waited_ns, a.times) > std::tie(b.waited_ns, b.times);
    });
    if (ranks.size() > most_last_ranks) ranks.resize(most_last_ranks);
    return ranks;
}

std::vector<LateRank> late_ranks_of(const CallSums& sums, std::span<const MemberCalls> members) {
    std::vector<LateRank> ranks;
    for (std::size_t m = 0; m < sums.late.size(); ++m)
        if (sums.late[m] > 0) ranks.push_back({members[m].rank, sums.late[m]});
    const auto kept = ranks.begin() + static_cast<std::ptrdiff_t>(std::min(ranks.size(), most_last_ranks));
    std::partial_sort(ranks.begin(), kept, ranks.end(), [](const LateRank& a, const LateRank& b) {
        return std::tie(b.waited_ns, a.rank) < std::tie(a.waited_ns, b.rank);
    });
    ranks.erase(kept, ranks.end());
    return ranks;
}

// Of the waiting in all calls, by a ratio of two means over a sample without replacement: W. G. Cochran, Sampling
// Techniques, chapter 6. Twice the standard error.
double error_of(const CallSums& sums, double ratio, std::uint64_t calls) {
    const auto n = static_cast<double>(sums.waited_of.size());
    const auto all = static_cast<double>(calls);
    if (n < 2 || n >= all) return 0;
    double squares = 0;
    for (const auto& [waited, time] : sums.waited_of) squares += (waited - ratio * time) * (waited - ratio * time);
    return 2 * all * std::sqrt(squares / (n - 1) / n * (1 - n / all));
}

using KindKey = std::tuple<std::uint16_t, std::uint8_t, Buffer>;
KindKey key_of(const MemberCalls::Kind& kind) { return {kind.all.key.call, kind.all.key.bin, kind.all.key.buffer}; }

// Kinds of which no call was compared wait as others of their size do. Members that are root now and then have no
// waiting of the other calls: what is known is what they waited as the root.
void fill_gaps(std::span<MemberCalls> members, std::span<const Call* const> calls) {
    std::map<KindKey, std::pair<double, double>> seen;
    for (MemberCalls& member : members)
        for (MemberCalls::Kind& kind : member.kinds)
            if (kind.compared_ns > 0) kind.compared_ns += kind.unknown_ns;
    for (const MemberCalls& member : members)
        for (const MemberCalls::Kind& kind : member.kinds) {
            auto& [waited, compared] = seen[key_of(kind)];
            waited += kind.waited_ns;
            compared += kind.compared_ns;
        }
    for (MemberCalls& member : members)
        for (MemberCalls::Kind& kind : member.kinds)
            if (kind.compared_ns == 0 && !calls[kind.all.key.call]->root_waits)
                std::tie(kind.waited_ns, kind.compared_ns) = seen[key_of(kind)];
}

}  // namespace

void CallSums::add_last(std::uint32_t rank, double behind_ns, double waited_ns, std::int64_t moment) {
    Last& l = last[rank];
    l.first = l.times == 0 ? moment : std::min(l.first, moment);
    l.latest = l.times == 0 ? moment : std::max(l.latest, moment);
    ++l.times;
    l.behind_ns += behind_ns;
    l.waited_ns += waited_ns;
}

CallComparison::CallComparison(std::span<MemberCalls> members, std::span<const Call* const> calls)
    : members_(members), calls_(calls) {
    find_rows();
}

void CallComparison::find_rows() {
    std::vector<std::uint32_t> next(members_.size());
    for (std::uint32_t i = 0; i < members_[0].kept.size(); ++i) {
        const MemberCalls::Kept& first = members_[0].kept[i];
        bool is_on_all = true;
        next[0] = i;
        for (std::size_t m = 1; m < members_.size() && is_on_all; ++m) {
            const auto& kept = members_[m].kept;
            while (next[m] < kept.size() && kept[next[m]].number < first.number) ++next[m];
            is_on_all = next[m] < kept.size() && kept[next[m]].number == first.number &&
                        members_[m].call_of(kept[next[m]]) == members_[0].call_of(first);
        }
        if (is_on_all) at_.insert(at_.end(), next.begin(), next.end());
    }
}

// A root moves something where its members do.
WaitsFor CallComparison::waits_for(Row row) const {
    const Call& call = *calls_[members_[0].call_of(kept(0, row))];
    if (!call.waits_for_all && !call.waits_for_root && !call.root_waits) return WaitsFor::unknown;
    for (std::size_t m = 0; m < members_.size(); ++m)
        if (call.traffic != Traffic::sync && members_[m].kinds[kept(m, row).kind].all.key.bin == 0)
            return WaitsFor::unknown;
    if (call.waits_for_all) return WaitsFor::all;
    const std::int32_t root = kept(0, row).root;
    const bool is_member = root >= 0 && static_cast<std::size_t>(root) < members_.size();
    if (!is_member) return WaitsFor::unknown;
    return call.root_waits ? WaitsFor::members : WaitsFor::root;
}

void CallComparison::bound(NodeClocks& clocks) const {
    std::map<std::uint32_t, NodeClocks::Moments> nodes;
    for (std::size_t i = 0; i < rows(); ++i) {
        if (waits_for(row(i)) != WaitsFor::all) continue;
        nodes.clear();
        for (std::size_t m = 0; m < members_.size(); ++m) {
            const MemberCalls::Kept& k = kept(m, row(i));
            const NodeClocks::Moments own{k.begin_ns, k.begin_ns + static_cast<std::int64_t>(k.time_ns)};
            const auto [found, is_new] = nodes.try_emplace(members_[m].node, own);
            if (is_new) continue;
            found->second.last_in = std::max(found->second.last_in, own.last_in);
            found->second.first_out = std::min(found->second.first_out, own.first_out);
        }
        const auto reference = nodes.find(clocks.reference());
        if (reference == nodes.end()) return;
        for (const auto& [node, moments] : nodes)
            if (node != clocks.reference()) clocks.add(node, moments, reference->second);
    }
}

bool CallComparison::can_line_up(const NodeClocks& clocks) const {
    const std::uint32_t node = members_[0].node;
    return std::all_of(members_.begin(), members_.end(),
                       [&](const MemberCalls& m) { return m.node == node || clocks.knows(m.node); }) &&
           (clocks.knows(node) ||
            std::all_of(members_.begin(), members_.end(), [&](const MemberCalls& m) { return m.node == node; }));
}

// Who came last, if the clocks can tell.
void CallComparison::add_row(Row row, const NodeClocks& clocks, std::span<const std::int64_t> entered,
                             CallSums& sums) const {
    const auto last = static_cast<std::size_t>(std::max_element(entered.begin(), entered.end()) - entered.begin());
    std::size_t next = last == 0 ? 1 : 0;
    for (std::size_t m = 0; m < members_.size(); ++m)
        if (m != last && entered[m] > entered[next]) next = m;
    const auto behind = static_cast<double>(entered[last] - entered[next]);
    const double resolution =
        resolution_ns + clocks.error_ns(members_[last].node) + clocks.error_ns(members_[next].node);
    const double waited = wait_in(row, entered, last, clocks, sums);
    if (behind > resolution)
        sums.add_last(members_[last].rank, behind, waited, entered[last]);
    else
        ++sums.undecided;
}

// How long the members waited in it for the one that came last, together; 0 where that is not whom they waited for.
double CallComparison::wait_in(Row row, std::span<const std::int64_t> entered, std::size_t last,
                               const NodeClocks& clocks, CallSums& sums) const {
    const WaitsFor waits = waits_for(row);
    if (waits == WaitsFor::unknown) return 0;
    sums.waits_for = waits;
    const auto root = static_cast<std::size_t>(kept(0, row).root);
    const std::size_t awaited = waits == WaitsFor::root ? root : last;
    auto& [row_waited, row_time] = sums.waited_of.emplace_back();
    for (std::size_t m = 0; m < members_.size(); ++m) {
        const auto time = static_cast<double>(kept(m, row).time_ns);
        const double waited = std::clamp(static_cast<double>(entered[awaited] - entered[m]), 0.0, time);
        MemberCalls::Kind& kind = members_[m].kinds[kept(m, row).kind];
        row_time += time;
        if (waits == WaitsFor::members && m != root) {
            kind.unknown_ns += time;
            continue;
        }
        kind.compared_ns += time;
        kind.longest_compared_ns = std::max(kind.longest_compared_ns, kept(m, row).time_ns);
        kind.waited_ns += waited;
        row_waited += waited;
        if (members_[m].node != members_[awaited].node)
            sums.clock_error_ns +=
                std::min(time, clocks.error_ns(members_[m].node) + clocks.error_ns(members_[awaited].node));
    }
    if (awaited != last) return 0;
    sums.late.resize(members_.size());
    const std::int64_t first = *std::min_element(entered.begin(), entered.end());
    for (std::size_t m = 0; m < members_.size(); ++m)
        if (entered[m] - first > entered[last] - entered[m]) sums.late[m] += row_waited;
    return row_waited;
}

ComparedCall CallComparison::line_of(std::uint16_t call, const CallSums& sums, std::int64_t start) const {
    ComparedCall line;
    line.call = call;
    line.members = static_cast<std::uint32_t>(members_.size());
    line.waits_for = sums.waits_for;
    line.compared = sums.compared;
    line.undecided = sums.undecided;
    line.last_ranks = last_ranks_of(sums, start);
    line.late_ranks = late_ranks_of(sums, members_);
    double unseen_ns = 0;
    for (const MemberCalls& member : members_)
        for (const MemberCalls::Kind& kind : member.kinds) {
            if (kind.all.key.call != call) continue;
            line.calls += kind.all.calls;
            line.time_ns += static_cast<double>(kind.all.time_ns);
            // Of a call that is longer than all that were compared nothing says what it spent its time on.
            if (kind.longest_ns > kind.longest_compared_ns && sums.waits_for != WaitsFor::unknown &&
                kind.unknown_ns == 0)
                unseen_ns += static_cast<double>(kind.longest_ns - kind.longest_compared_ns);
            if (kind.compared_ns > 0)
                line.waiting_ns += static_cast<double>(kind.all.time_ns) * kind.waited_ns / kind.compared_ns;
        }
    line.calls /= members_.size();
    double seen = 0, waited = 0;
    for (const auto& [row_waited, row_time] : sums.waited_of) waited += row_waited, seen += row_time;
    line.compared_waiting_ns = waited;
    line.error_ns = unseen_ns;
    if (seen > 0)
        line.error_ns += error_of(sums, waited / seen, line.calls) + sums.clock_error_ns * line.time_ns / seen;
    return line;
}

std::vector<ComparedCall> CallComparison::line_up(const NodeClocks& clocks) {
    const auto lined_up = [&](const MemberCalls& member, std::int64_t moment) {
        return moment + clocks.offset(member.node, moment).value_or(0);
    };
    std::int64_t start = lined_up(members_[0], members_[0].started_ns);
    for (const MemberCalls& member : members_) start = std::min(start, lined_up(member, member.started_ns));

    std::map<std::uint16_t, CallSums> sums;
    std::vector<std::int64_t> entered(members_.size());
    for (std::size_t i = 0; i < rows(); ++i) {
        for (std::size_t m = 0; m < members_.size(); ++m) entered[m] = lined_up(members_[m], kept(m, row(i)).begin_ns);
        CallSums& of_call = sums[members_[0].call_of(kept(0, row(i)))];
        ++of_call.compared;
        add_row(row(i), clocks, entered, of_call);
    }
    fill_gaps(members_, calls_);
    std::vector<ComparedCall> compared;
    for (const auto& [call, of_call] : sums) compared.push_back(line_of(call, of_call, start));
    return compared;
}

}  // namespace mpiprof::report
