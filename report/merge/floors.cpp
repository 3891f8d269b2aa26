// The fastest of each kind, and what all took longer.
#include "report/merge/floors.h"

#include <algorithm>
#include <bit>

#include "libmpiprof/format/size_bins.h"
#include "report/model/waiting.h"

namespace mpiprof::report {
namespace {

// Calls of NCCL only put work on a stream.
bool may_wait(const Call& call) {
    return call.family == Family::mpi && call.treatment == Treatment::timed && !call.is_sampled &&
           may_wait_for_others(call.traffic);
}

// Between two groups the ranks beside the root move nothing and return at once: they wait for nobody, nor do they show
// how fast others could have been.
bool may_stand_by(const Profile& profile, const Cell& cell) {
    return cell.bin == 0 && profile.calls[cell.call].has_root && cell.communicator < profile.communicators.size() &&
           profile.communicators[cell.communicator].is_inter;
}

// What one such call moves data for at most; 0: that is not known, as of Wait and its like. A collective is as many
// messages as its tree is high, of the data of all members.
double most_moving_ns(const WaitSum& sum, bool is_of_one_node) {
    const auto bytes = static_cast<double>(format::bin_max_bytes(sum.key.bin));
    const std::uint32_t members = sum.key.comm_size;
    if (sum.traffic == Traffic::completion) return 0;
    if (sum.traffic != Traffic::collective && sum.traffic != Traffic::sync)
        return slowest_moving_ns(1, bytes, is_of_one_node);
    return members == 0 ? 0 : slowest_moving_ns(std::bit_width(members), bytes * members, is_of_one_node);
}

}  // namespace

WaitSum& WaitSum::operator+=(const WaitSum& from) {
    calls += from.calls;
    time_ns += from.time_ns;
    if (from.min_ns != 0 && (min_ns == 0 || from.min_ns < min_ns)) min_ns = from.min_ns;
    return *this;
}

std::optional<WaitSum> wait_of(const Profile& profile, const Cell& cell, std::uint16_t call) {
    if (cell.calls == 0 || !may_wait(profile.calls[cell.call]) || may_stand_by(profile, cell)) return std::nullopt;
    const bool is_known = cell.communicator != 0 && cell.communicator < profile.communicators.size();
    const WaitKey key{.call = call,
                      .bin = cell.bin,
                      .buffer = cell.buffer,
                      .comm_size = is_known ? profile.communicators[cell.communicator].size : 0};
    return WaitSum{.key = key,
                   .calls = cell.calls,
                   .time_ns = cell.time_ns,
                   .min_ns = cell.min_ns.value_or(0),
                   .traffic = profile.calls[cell.call].traffic};
}

void add_wait(std::vector<WaitSum>& sums, const WaitSum& sum) {
    const auto at = std::lower_bound(sums.begin(), sums.end(), sum,
                                     [](const WaitSum& a, const WaitSum& b) { return a.key < b.key; });
    if (at != sums.end() && at->key == sum.key)
        *at += sum;
    else
        sums.insert(at, sum);
}

namespace {

// Smaller ones may be sent before anybody receives them: then a receive only copies.
constexpr std::uint64_t waits_for_its_receiver = 64 << 10;

}  // namespace

double Floors::fastest_receive_ns(const WaitSum& send) const {
    if (send.traffic != Traffic::send || format::bin_max_bytes(send.key.bin) < waits_for_its_receiver) return 0;
    std::uint64_t fastest = 0;
    WaitKey key = send.key;
    for (const std::uint16_t call : receives_) {
        key.call = call;
        const WaitSum* receive = posting_.contains(call) ? nullptr : floors_.find(key);
        if (!receive || receive->calls < least_calls || receive->min_ns == 0) continue;
        if (fastest == 0 || receive->min_ns < fastest) fastest = receive->min_ns;
    }
    return static_cast<double>(fastest);
}

Floors::Waiting Floors::of(std::span<const WaitSum> sums) const {
    Waiting waiting;
    for (const WaitSum& sum : sums) {
        const WaitSum* floor = floors_.find(sum.key);
        if (!floor || posting_.contains(sum.key.call)) continue;
        const bool is_alone = sum.key.comm_size == 1;  // there is nobody to wait for
        if (!is_alone && (floor->min_ns == 0 || floor->calls < least_calls)) continue;
        auto fastest = static_cast<double>(floor->min_ns);
        if (const double moving = most_moving_ns(sum, is_of_one_node_); moving > 0) fastest = std::min(fastest, moving);
        if (const double receive = fastest_receive_ns(sum); receive > 0) fastest = std::min(fastest, receive);
        const double moving = is_alone ? static_cast<double>(sum.time_ns) : static_cast<double>(sum.calls) * fastest;
        waiting.judged_ns += sum.time_ns;
        if (moving < static_cast<double>(sum.time_ns))
            waiting.waiting_ns += sum.time_ns - static_cast<std::uint64_t>(moving);
    }
    return waiting;
}

}  // namespace mpiprof::report
