// One clock for all ranks of a job: where the time of each lies on it. By the differences that were measured
// (MPIPROF_CLOCK_OFFSETS) if they are known of all ranks, else by the clock that the ranks of a node share and its time
// of day.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "report/model/profile.h"

namespace mpiprof::report {

class Clocks {
  public:
    void meet(const Profile& profile);
    // After the last rank was met.
    void settle();

    // A moment of a rank, in nanoseconds since the first rank left MPI_Init; of one that was met.
    std::int64_t at(std::uint32_t rank, std::uint64_t ns_after_init) const;

    // Whether moments of these two may be compared: they are of one node, or the clocks of all were measured.
    bool agree(std::uint32_t a, std::uint32_t b) const;

    bool are_measured() const { return unmeasured_ == 0; }
    bool are_measured_in_part() const { return unmeasured_ != 0 && unmeasured_ != ranks_.size(); }
    std::uint64_t largest_error_ns() const { return largest_error_ns_; }

  private:
    struct RankClock {
        std::int64_t node_ns = 0;  // of MPI_Init's end, on the clock of the node
        std::int64_t day_ns = 0;   // the same, since 1970
        std::string node{};
        std::optional<ClockOffset> at_start, at_end;
    };
    std::int64_t time_of(const RankClock& clock, std::uint64_t ns_after_init) const;

    std::map<std::uint32_t, RankClock> ranks_;
    std::map<std::string, std::int64_t> nodes_;  // the time of day at the zero of its clock
    std::size_t unmeasured_ = 0;
    std::uint64_t largest_error_ns_ = 0;
    std::int64_t first_ns_ = 0;
};

}  // namespace mpiprof::report
