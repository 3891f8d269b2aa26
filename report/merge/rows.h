// RowsPart: calls, bytes and time of each call, message size and kind of buffer, over some of a job's ranks, and how
// long single calls took. A part of a merge.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "report/merge/duration_counts.h"
#include "report/merge/rank_profile.h"
#include "report/model/job.h"

namespace mpiprof::report {

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
    void take_durations(Row& row);

    std::vector<Slots> slots_;  // by the number of the call
    std::vector<Row> rows_;
    std::vector<Durations> durations_;
};

}  // namespace mpiprof::report
