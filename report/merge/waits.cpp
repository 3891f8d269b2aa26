// The fastest of each kind, and what all took longer.
#include "report/merge/waits.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace mpiprof::report {
namespace {

// Calls of NCCL only put work on a stream.
bool may_wait(const Call& call) {
    if (call.family != Family::mpi || call.treatment != Treatment::timed || call.is_sampled) return false;
    switch (call.traffic) {
        case Traffic::send:
        case Traffic::receive:
        case Traffic::exchange:
        case Traffic::collective:
        case Traffic::completion:
        case Traffic::probe:
        case Traffic::sync:
            return true;
        default:
            return false;
    }
}

void add_sum(WaitSum& to, const WaitSum& from) {
    to.calls += from.calls;
    to.time_ns += from.time_ns;
    if (from.min_ns != 0 && (to.min_ns == 0 || from.min_ns < to.min_ns)) to.min_ns = from.min_ns;
}

}  // namespace

std::optional<WaitSum> wait_of(const Profile& profile, const Cell& cell, std::uint16_t call) {
    if (cell.calls == 0 || !may_wait(profile.calls[cell.call])) return std::nullopt;
    const bool is_known = cell.communicator != 0 && cell.communicator < profile.communicators.size();
    return WaitSum{.key = {.call = call,
                           .bin = cell.bin,
                           .buffer = cell.buffer,
                           .comm_size = is_known ? profile.communicators[cell.communicator].size : 0},
                   .calls = cell.calls,
                   .time_ns = cell.time_ns,
                   .min_ns = cell.min_ns.value_or(0)};
}

void add_wait(std::vector<WaitSum>& sums, const WaitSum& sum) {
    const auto at = std::lower_bound(sums.begin(), sums.end(), sum,
                                     [](const WaitSum& a, const WaitSum& b) { return a.key < b.key; });
    if (at != sums.end() && at->key == sum.key)
        add_sum(*at, sum);
    else
        sums.insert(at, sum);
}

Floors::Waiting Floors::of(std::span<const WaitSum> sums) const {
    Waiting waiting;
    for (const WaitSum& sum : sums) {
        const auto found = floors_.find(sum.key);
        if (found == floors_.end() || posting_.contains(sum.key.call)) continue;
        const WaitSum& floor = found->second;
        const bool is_alone = sum.key.comm_size == 1;  // there is nobody to wait for
        if (!is_alone && (floor.min_ns == 0 || floor.calls < least_calls)) continue;
        const double moving = is_alone ? static_cast<double>(sum.time_ns)
                                       : static_cast<double>(sum.calls) * static_cast<double>(floor.min_ns);
        waiting.judged_ns += sum.time_ns;
        if (moving < static_cast<double>(sum.time_ns))
            waiting.waiting_ns += sum.time_ns - static_cast<std::uint64_t>(moving);
    }
    return waiting;
}

void WaitsPart::take(const WaitSum& sum) {
    const auto found = floors_.find(sum.key);
    if (found != floors_.end())
        add_sum(found->second, sum);
    else if (floors_.size() < most_keys)
        floors_.emplace(sum.key, sum);
}

void WaitsPart::add(const Profile& profile, std::span<const std::uint16_t> call_map) {
    std::vector<WaitSum> own;
    for (const Cell& cell : profile.cells)
        if (const auto wait = wait_of(profile, cell, call_map[cell.call])) add_wait(own, *wait);
    for (const WaitSum& sum : own) take(sum);
    for (const Histogram& histogram : profile.histograms)  // of Wait and Test they are the ones that these completed
        if (histogram.requests != 0 && profile.calls[histogram.call].traffic != Traffic::completion)
            posting_.insert(call_map[histogram.call]);
    if (!own.empty() && profile.size <= most_ranks) ranks_.emplace_back(profile.rank, std::move(own));
}

void WaitsPart::renumber(std::span<const std::uint16_t> map) {
    std::map<WaitKey, WaitSum> floors;
    for (auto& [key, floor] : floors_) {
        floor.key.call = map[key.call];
        floors.emplace(floor.key, floor);
    }
    floors_ = std::move(floors);
    std::set<std::uint16_t> posting;
    for (const std::uint16_t call : posting_) posting.insert(map[call]);
    posting_ = std::move(posting);
    for (auto& [rank, sums] : ranks_)
        for (WaitSum& sum : sums) sum.key.call = map[sum.key.call];
}

void WaitsPart::absorb(WaitsPart&& other, std::span<const std::uint16_t> call_map) {
    other.renumber(call_map);
    for (const auto& [key, floor] : other.floors_) take(floor);
    posting_.merge(other.posting_);
    ranks_.insert(ranks_.end(), std::make_move_iterator(other.ranks_.begin()),
                  std::make_move_iterator(other.ranks_.end()));
}

Floors WaitsPart::finish(Job& job, std::span<const std::uint16_t> order) {
    renumber(order);
    Floors floors;
    floors.floors_ = std::move(floors_);
    floors.posting_ = std::move(posting_);
    const auto row_of = [&](const WaitKey& key) {
        return std::lower_bound(job.rows.begin(), job.rows.end(), key, [](const Row& row, const WaitKey& k) {
            return std::tie(row.sum.call, row.sum.bin, row.sum.buffer) < std::tie(k.call, k.bin, k.buffer);
        });
    };
    for (const auto& [key, floor] : floors.floors_) {
        const auto waiting = floors.of({&floor, 1});
        const auto row = row_of(key);
        row->waiting_ns += waiting.waiting_ns;
        row->judged_ns += waiting.judged_ns;
    }
    for (const auto& [number, sums] : ranks_) {
        const auto rank = std::lower_bound(job.ranks.begin(), job.ranks.end(), number,
                                           [](const Rank& r, std::uint32_t wanted) { return r.rank < wanted; });
        const auto waiting = floors.of(sums);
        rank->waiting_ns = waiting.waiting_ns;
        rank->judged_ns = waiting.judged_ns;
    }
    return floors;
}

}  // namespace mpiprof::report
