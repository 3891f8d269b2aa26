// The part `rows`: calls, bytes and time of each call, message size and kind of buffer, over some of a job's ranks, and
// how long single calls took.
#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "report/merge/duration_counts.h"
#include "report/merge/part.h"
#include "report/model/sums.h"

namespace mpiprof::report {
namespace {

class RowsPart {
  public:
    void add(const RankProfile& from);
    void absorb(RowsPart&& other);
    // Into Job::rows.
    void finish(Finishing& end);

  private:
    // Where those of one call lie, + 1; 0 = none.
    struct Slots {
        std::array<std::uint32_t, size_bins * buffer_kinds> rows{};
        std::array<std::uint32_t, size_bins> durations{};
    };
    struct Durations {
        std::uint16_t call;
        std::uint8_t bin;
        DurationCounts counts;
        std::uint64_t requests = 0;
        std::uint64_t in_flight_ns = 0;
        std::uint64_t blocked_ns = 0;
        std::uint64_t inside_ns = 0;

        // Of a Histogram, or of another part's Durations.
        void add_requests(const auto& from) {
            requests += from.requests;
            in_flight_ns += from.in_flight_ns;
            blocked_ns += from.blocked_ns;
            inside_ns += from.inside_ns;
        }
    };

    Slots& slots_of(std::uint16_t call);
    Row& row_of(std::uint16_t call, std::uint8_t bin, Buffer buffer);
    Durations& durations_of(std::uint16_t call, std::uint8_t bin);
    bool has_several_buffers(const Sum& sum) const;
    void take_durations(Row& row, std::vector<std::uint64_t>& octaves);

    std::vector<Slots> slots_;  // by the number of the call
    std::vector<Row> rows_;
    std::vector<Durations> durations_;
};

RowsPart::Slots& RowsPart::slots_of(std::uint16_t call) {
    if (call >= slots_.size()) slots_.resize(call + std::size_t{1});
    return slots_[call];
}

Row& RowsPart::row_of(std::uint16_t call, std::uint8_t bin, Buffer buffer) {
    std::uint32_t& slot = slots_of(call).rows[bin * buffer_kinds + static_cast<unsigned>(buffer)];
    if (slot == 0) {
        rows_.push_back({.sum = {.call = call, .bin = bin, .buffer = buffer}});
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
        durations.counts.add(profile.buckets_of(histogram));
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

void RowsPart::take_durations(Row& row, std::vector<std::uint64_t>& octaves) {
    const std::uint32_t slot = slots_[row.sum.call].durations[row.sum.bin];
    if (slot == 0) return;
    Durations& durations = durations_[slot - 1];
    if (!has_several_buffers(row.sum)) {  // durations are of all buffers together
        const auto of = [&](double share) {
            return durations.counts.percentile(share, row.sum.min_ns.value_or(0), row.sum.max_ns);
        };
        row.p05_ns = of(0.05);
        row.p50_ns = of(0.50);
        row.p99_ns = of(0.99);
        const std::vector<std::uint64_t> counts = durations.counts.by_octave();
        row.first_octave = static_cast<std::uint32_t>(octaves.size());
        row.octaves = static_cast<std::uint32_t>(counts.size());
        octaves.insert(octaves.end(), counts.begin(), counts.end());
    }
    row.requests = std::exchange(durations.requests, 0);
    row.in_flight_ns = std::exchange(durations.in_flight_ns, 0);
    row.blocked_ns = std::exchange(durations.blocked_ns, 0);
    row.inside_ns = std::exchange(durations.inside_ns, 0);
}

void RowsPart::finish(Finishing& end) {
    const auto by_key = [](const Row& a, const Row& b) {
        return std::tie(a.sum.call, a.sum.bin, a.sum.buffer) < std::tie(b.sum.call, b.sum.bin, b.sum.buffer);
    };
    // The first kind of buffer takes what is of all of them, so the order must not depend on who came first.
    std::sort(rows_.begin(), rows_.end(), by_key);
    for (Row& row : rows_) take_durations(row, end.job.octave_counts);
    for (Row& row : rows_) row.sum.call = end.order[row.sum.call];
    std::sort(rows_.begin(), rows_.end(), by_key);
    end.job.rows = std::move(rows_);
}

}  // namespace

std::unique_ptr<MergePart> rows_part() { return std::make_unique<PartOf<RowsPart>>(); }

}  // namespace mpiprof::report
