// How many calls took how long, in ns, added over ranks whose clocks tick differently: log-linear, 64 sub-buckets an
// octave, so that taking over a rank's 16 costs under 1 % more. For merge only; gives percentiles.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "report/model/profile.h"

namespace mpiprof::report {

class DurationCounts {
  public:
    void add(std::span<const Bucket> buckets);
    void add(const DurationCounts& other);
    std::uint64_t calls() const { return calls_; }
    // The duration that `share` of the calls did not exceed, e.g. 0.99.
    double percentile(double share) const;
    // Where the shortest and the longest call are known: a bucket's middle never lies beyond them.
    double percentile(double share, std::uint64_t shortest_ns, std::uint64_t longest_ns) const {
        const auto low = static_cast<double>(shortest_ns);
        return std::clamp(percentile(share), low, std::max(low, static_cast<double>(longest_ns)));
    }

    // [i]: how many took from 2^i to 2^(i+1) ns; up to the last that is not 0. What took no ns is in [0].
    std::vector<std::uint64_t> by_octave() const;

  private:
    void add(const Bucket& bucket);

    static constexpr unsigned sub_bits = 6;
    static constexpr unsigned sub_buckets = 1u << sub_bits;
    static constexpr unsigned octaves = 64 - sub_bits + 1;
    using Octave = std::array<std::uint64_t, sub_buckets>;

    std::array<std::unique_ptr<Octave>, octaves> octaves_;
    std::uint64_t calls_ = 0;
};

}  // namespace mpiprof::report
