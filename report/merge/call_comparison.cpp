// The share of waiting in the compared calls stands for that in all calls of the same kind: the calls that are kept are
// chosen by their number alone.
#include "report/merge/call_comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
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
void fill_gaps(std::span<const std::span<MemberCalls::Kind>> all, std::span<const Call* const> calls) {
    std::map<KindKey, std::pair<double, double>> seen;
    for (const auto kinds : all)
        for (MemberCalls::Kind& kind : kinds)
            if (kind.compared_ns > 0) kind.compared_ns += kind.unknown_ns;
    for (const auto kinds : all)
        for (const MemberCalls::Kind& kind : kinds) {
            auto& [waited, compared] = seen[key_of(kind)];
            waited += kind.waited_ns;
            compared += kind.compared_ns;
        }
    for (const auto kinds : all)
        for (MemberCalls::Kind& kind : kinds)
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

namespace {

constexpr std::uint64_t mask(unsigned bits) { return (std::uint64_t{1} << bits) - 1; }

}  // namespace

// What no sound file has is cut: a call of three days, and the millionth millionth of a communicator.
MemberCalls::Kept::Kept(std::uint64_t n, std::int64_t begin, std::uint64_t time, std::int32_t its_root,
                        std::uint32_t its_kind)
    : number(n & mask(40)),
      root_and_one(static_cast<std::uint64_t>(its_root + std::int64_t{1}) & mask(24)),
      begin_ns(begin),
      time_ns(std::min(time, mask(48)) & mask(48)),
      kind(its_kind & mask(16)) {}

CallComparison::CallComparison(std::span<MemberCalls> members, std::span<const Call* const> calls,
                               std::span<MemberCalls::Kind> shared)
    : members_(members), calls_(calls), shared_(shared) {
    keep_rows();
}

std::vector<std::span<MemberCalls::Kind>> CallComparison::all_kinds() const {
    if (!shared_.empty()) return {shared_};
    std::vector<std::span<MemberCalls::Kind>> all;
    all.reserve(members_.size());
    for (MemberCalls& member : members_) all.emplace_back(member.kinds);
    return all;
}

// Kinds that are shared have the longest call of each member, added up; the same of those that were compared.
void CallComparison::add_up_longest() {
    std::vector<std::uint64_t> sums(shared_.size()), of_member(shared_.size());
    for (const MemberCalls& member : members_) {
        std::fill(of_member.begin(), of_member.end(), 0);
        for (std::size_t row = 0; row < rows_; ++row)
            if (waits_for(row) != WaitsFor::unknown)
                of_member[member.kept[row].kind] =
                    std::max<std::uint64_t>(of_member[member.kept[row].kind], member.kept[row].time_ns);
        for (std::size_t kind = 0; kind < sums.size(); ++kind) sums[kind] += of_member[kind];
    }
    for (std::size_t kind = 0; kind < sums.size(); ++kind) shared_[kind].longest_compared_ns = sums[kind];
}

// Of a member's calls those that all others have kept, too, and as the same call: row for row in `kept` of each of
// them.
void CallComparison::keep_rows() {
    const std::size_t all = members_[0].kept.size();
    std::vector<std::uint64_t> numbers;
    std::vector<std::uint16_t> call_of_row;
    for (const MemberCalls::Kept& kept : members_[0].kept) {
        numbers.push_back(kept.number);
        call_of_row.push_back(call_of(kept));
    }
    std::vector<std::uint8_t> is_row(all, 1);
    moves_.assign(all, 1);
    for (MemberCalls& member : members_) {
        const MemberCalls::Kept *at = member.kept.data(), *const end = at + member.kept.size();
        const MemberCalls::Kind* const kinds = kinds_of(member).data();
        for (std::size_t i = 0; i < all; ++i) {
            while (at != end && at->number < numbers[i]) ++at;
            if (at == end || at->number != numbers[i]) {
                is_row[i] = 0;
                continue;
            }
            const WaitKey& key = kinds[at->kind].all.key;
            if (key.call != call_of_row[i]) is_row[i] = 0;
            if (key.bin == 0) moves_[i] = 0;
        }
    }
    const auto is_left_out = [&](const MemberCalls::Kept& kept) {
        const auto at = std::lower_bound(numbers.begin(), numbers.end(), kept.number);
        return at == numbers.end() || *at != kept.number || !is_row[static_cast<std::size_t>(at - numbers.begin())];
    };
    rows_ = static_cast<std::size_t>(std::count(is_row.begin(), is_row.end(), 1));
    for (MemberCalls& member : members_)
        if (member.kept.size() != rows_) std::erase_if(member.kept, is_left_out);
    std::size_t row = 0;
    for (std::size_t i = 0; i < all; ++i)
        if (is_row[i]) moves_[row++] = moves_[i];
}

// A root moves something where its members do.
WaitsFor CallComparison::waits_for(std::size_t row) const {
    const MemberCalls::Kept& first = members_[0].kept[row];
    const Call& call = *calls_[call_of(first)];
    if (!call.waits_for_all && !call.waits_for_root && !call.root_waits) return WaitsFor::unknown;
    if (call.traffic != Traffic::sync && !moves_[row]) return WaitsFor::unknown;
    if (call.waits_for_all) return WaitsFor::all;
    const bool is_member = first.root() >= 0 && static_cast<std::size_t>(first.root()) < members_.size();
    if (!is_member) return WaitsFor::unknown;
    return call.root_waits ? WaitsFor::members : WaitsFor::root;
}

void CallComparison::bound(NodeClocks& clocks) const {
    std::vector<std::uint32_t> nodes;
    for (const MemberCalls& member : members_) nodes.push_back(member.node);
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    const auto place_of = [&](std::uint32_t node) {
        return static_cast<std::uint32_t>(std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin());
    };
    const std::uint32_t reference = place_of(clocks.reference());
    if (reference == nodes.size() || nodes[reference] != clocks.reference()) return;
    std::vector<std::uint32_t> places;
    for (const MemberCalls& member : members_) places.push_back(place_of(member.node));
    constexpr NodeClocks::Moments none{std::numeric_limits<std::int64_t>::min(),
                                       std::numeric_limits<std::int64_t>::max()};
    std::vector<NodeClocks::Moments> moments(nodes.size());
    for (std::size_t row = 0; row < rows_; ++row) {
        if (waits_for(row) != WaitsFor::all) continue;
        std::fill(moments.begin(), moments.end(), none);
        for (std::size_t m = 0; m < members_.size(); ++m) {
            const MemberCalls::Kept& kept = members_[m].kept[row];
            NodeClocks::Moments& of_node = moments[places[m]];
            const std::int64_t out = kept.begin_ns + static_cast<std::int64_t>(kept.time_ns);
            if (kept.begin_ns > of_node.last_in) of_node.last_in = kept.begin_ns;
            if (out < of_node.first_out) of_node.first_out = out;
        }
        for (std::uint32_t place = 0; place < nodes.size(); ++place)
            if (place != reference) clocks.add(nodes[place], moments[place], moments[reference]);
    }
}

bool CallComparison::can_line_up(const NodeClocks& clocks) const {
    const std::uint32_t node = members_[0].node;
    return std::all_of(members_.begin(), members_.end(),
                       [&](const MemberCalls& m) { return m.node == node || clocks.knows(m.node); }) &&
           (clocks.knows(node) ||
            std::all_of(members_.begin(), members_.end(), [&](const MemberCalls& m) { return m.node == node; }));
}

CallComparison::Entered CallComparison::enter(std::size_t row, std::span<std::int64_t> entered) const {
    Entered of_row;
    std::int64_t latest = std::numeric_limits<std::int64_t>::min(), before = latest;
    of_row.first_ns = std::numeric_limits<std::int64_t>::max();
    for (std::size_t m = 0; m < members_.size(); ++m) {
        const std::int64_t at = entered[m] = members_[m].kept[row].begin_ns;
        if (at < of_row.first_ns) of_row.first_ns = at;
        if (at > latest || m == 0) {
            before = latest;
            of_row.next = of_row.last;
            latest = at;
            of_row.last = m;
        } else if (at > before || m == 1) {
            before = at;
            of_row.next = m;
        }
    }
    return of_row;
}

// Who came last, if the clocks can tell.
void CallComparison::add_row(std::size_t row, std::span<std::int64_t> entered, CallSums& sums) {
    const Entered of_row = enter(row, entered);
    const std::int64_t latest = entered[of_row.last];
    const auto behind = static_cast<double>(latest - entered[of_row.next]);
    const double resolution = resolution_ns + error_ns_[of_row.last] + error_ns_[of_row.next];
    const double waited = wait_in(row, entered, of_row, sums);
    if (behind > resolution)
        sums.add_last(members_[of_row.last].rank, behind, waited, latest);
    else
        ++sums.undecided;
    late_calls_.push_back({.number = members_[0].kept[row].number,
                           .rank = members_[of_row.last].rank,
                           .is_decided = behind > resolution,
                           .waited_ns = waited,
                           .entered_ns = latest});
}

// How long the members waited in it for the one that came last, together; 0 where that is not whom they waited for.
double CallComparison::wait_in(std::size_t row, std::span<const std::int64_t> entered, const Entered& of_row,
                               CallSums& sums) const {
    const WaitsFor waits = waits_for(row);
    if (waits == WaitsFor::unknown) return 0;
    sums.waits_for = waits;
    const auto root = static_cast<std::size_t>(members_[0].kept[row].root());
    const std::size_t awaited = waits == WaitsFor::root ? root : of_row.last;
    const std::size_t alone = waits == WaitsFor::members ? root : members_.size();  // whose waiting alone is known
    const std::uint32_t node = members_[awaited].node;
    double row_waited = 0, row_time = 0;
    const std::int64_t until = entered[awaited];
    const std::span<MemberCalls> members = members_;  // nothing that is written below can change where they lie
    for (std::size_t m = 0; m < members.size(); ++m) {
        MemberCalls& member = members[m];
        const MemberCalls::Kept& kept = member.kept[row];
        MemberCalls::Kind& kind = kinds_of(member)[kept.kind];
        const auto time = static_cast<double>(kept.time_ns);
        row_time += time;
        if (m != alone && alone != members.size()) {
            kind.unknown_ns += time;
            continue;
        }
        double waited = static_cast<double>(until - entered[m]);
        if (waited < 0) waited = 0;
        if (waited > time) waited = time;
        kind.compared_ns += time;
        if (kept.time_ns > kind.longest_compared_ns) kind.longest_compared_ns = kept.time_ns;
        kind.waited_ns += waited;
        row_waited += waited;
        if (member.node != node) sums.clock_error_ns += std::min(time, error_ns_[m] + error_ns_[awaited]);
    }
    sums.waited_of.emplace_back(row_waited, row_time);
    if (awaited != of_row.last) return 0;
    sums.late.resize(members_.size());
    const std::int64_t last = entered[of_row.last], first = of_row.first_ns;
    const std::span<double> late = sums.late;
    for (std::size_t m = 0; m < late.size(); ++m)
        if (entered[m] - first > last - entered[m]) late[m] += row_waited;
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
    for (const auto kinds : all_kinds())
        for (const MemberCalls::Kind& kind : kinds) {
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

// From here on the members' calls begin by one clock.
std::int64_t CallComparison::turn_to_one_clock(const NodeClocks& clocks) {
    std::int64_t start = std::numeric_limits<std::int64_t>::max();
    for (MemberCalls& member : members_) {
        const NodeClocks::Clock clock = clocks.clock_of(member.node);
        start = std::min(start, member.started_ns + clock.offset(member.started_ns));
        for (MemberCalls::Kept& kept : member.kept) kept.begin_ns += clock.offset(kept.begin_ns);
        error_ns_.push_back(clocks.error_ns(member.node));
    }
    return start;
}

std::vector<ComparedCall> CallComparison::line_up(const NodeClocks& clocks) {
    const std::int64_t start = turn_to_one_clock(clocks);
    std::map<std::uint16_t, CallSums> sums;
    std::vector<std::int64_t> entered(members_.size());
    for (std::size_t row = 0; row < rows_; ++row) {
        CallSums& of_call = sums[call_of(members_[0].kept[row])];
        ++of_call.compared;
        add_row(row, entered, of_call);
    }
    if (!shared_.empty()) add_up_longest();
    fill_gaps(all_kinds(), calls_);
    std::vector<ComparedCall> compared;
    for (const auto& [call, of_call] : sums) compared.push_back(line_of(call, of_call, start));
    return compared;
}

}  // namespace mpiprof::report
