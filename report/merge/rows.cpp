// Sums by (call, bin, buffer), durations by (call, bin).
#include "report/merge/rows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "report/model/sums.h"

namespace mpiprof::report {
namespace {

auto key(const Sum& sum) { return std::make_tuple(sum.call, sum.bin, sum.buffer); }

}  // namespace

RowsPart::Slots& RowsPart::slots_of(std::uint16_t call) {
    if (call >= slots_.size()) slots_.resize(call + std::size_t{1});
    return slots_[call];
}

Row& RowsPart::row_of(std::uint16_t call, std::uint8_t bin, Buffer buffer) {
    std::uint32_t& slot = slots_of(call).rows[bin * buffer_kinds + static_cast<unsigned>(buffer)];
    if (slot == 0) {
        rows_.push_back(
            {.sum = {.call = call, .bin = bin, .buffer = buffer}, .p05_ns = {}, .p50_ns = {}, .p99_ns = {}});
        slot = static_cast<std::uint32_t>(rows_.size());
    }
    return rows_[slot - 1];
}

RowsPart::Durations& RowsPart::durations_of(std::uint16_t call, std::uint8_t bin) {
    std::uint32_t& slot = slots_of(call).durations[bin];
    if (slot == 0) {
        durations_.push_back({.call = call, .bin = bin, .counts = {}});
        slot = static_cast<std::uint32_t>(durations_.size());
    }
    return durations_[slot - 1];
}

void RowsPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    for (const Sum& sum : from.sums) {
        Row& row = row_of(from.calls[sum.call], sum.bin, sum.buffer);
        take_largest(row, sum.time_ns, profile.rank);
        add_sum(row.sum, sum);
        ++row.ranks;
    }
    for (const Histogram& histogram : profile.histograms) {
        Durations& durations = durations_of(from.calls[histogram.call], histogram.bin);
        durations.add_requests(histogram);
        for (std::uint32_t i = 0; i < histogram.buckets; ++i) {
            const Bucket& bucket = profile.buckets[histogram.first_bucket + i];
            durations.counts.add(bucket.low_ns, bucket.high_ns, bucket.calls);
        }
    }
}

void RowsPart::absorb(RowsPart&& other) {
    for (const Row& from : other.rows_) {
        Row& row = row_of(from.sum.call, from.sum.bin, from.sum.buffer);
        take_largest(row, from);
        add_sum(row.sum, from.sum);
        row.ranks += from.ranks;
    }
    for (const Durations& from : other.durations_) {
        Durations& durations = durations_of(from.call, from.bin);
        durations.counts.add(from.counts);
        durations.add_requests(from);
    }
}

bool RowsPart::has_several_buffers(const Sum& sum) const {
    const std::uint32_t* rows = &slots_[sum.call].rows[sum.bin * buffer_kinds];
    return std::count_if(rows, rows + buffer_kinds, [](std::uint32_t slot) { return slot != 0; }) > 1;
}

void RowsPart::take_durations(Row& row) {
    const std::uint32_t slot = slots_[row.sum.call].durations[row.sum.bin];
    if (slot == 0) return;
    Durations& durations = durations_[slot - 1];
    if (!has_several_buffers(row.sum)) {  // durations are of all buffers together
        // The exact extremes are known: a bucket's middle never lies beyond them.
        const auto within = [&](double ns) {
            const auto low = static_cast<double>(row.sum.min_ns.value_or(0));
            return std::clamp(ns, low, std::max(low, static_cast<double>(row.sum.max_ns)));
        };
        row.p05_ns = within(durations.counts.percentile(0.05));
        row.p50_ns = within(durations.counts.percentile(0.50));
        row.p99_ns = within(durations.counts.percentile(0.99));
    }
    row.requests = std::exchange(durations.requests, 0);
    row.in_flight_ns = std::exchange(durations.in_flight_ns, 0);
    row.blocked_ns = std::exchange(durations.blocked_ns, 0);
    row.inside_ns = std::exchange(durations.inside_ns, 0);
}

void RowsPart::finish(Finishing& end) {
    // The first kind of buffer takes what is of all of them, so the order must not depend on who came first.
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return key(a.sum) < key(b.sum); });
    for (Row& row : rows_) take_durations(row);
    for (Row& row : rows_) row.sum.call = end.order[row.sum.call];
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return key(a.sum) < key(b.sum); });
    end.job.rows = std::move(rows_);
}

}  // namespace mpiprof::report
