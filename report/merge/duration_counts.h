// How many calls took how long, in ns, added over ranks whose clocks tick differently: log-linear, 64 sub-buckets an
// octave, so that taking over a rank's 16 costs under 1 % more. For merge only; gives percentiles.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace mpiprof::report {

class DurationCounts {
  public:
    void add(double low_ns, double high_ns, std::uint64_t calls);
    void add(const DurationCounts& other);
    std::uint64_t calls() const { return calls_; }
    // The duration that `share` of the calls did not exceed, e.g. 0.99.
    double percentile(double share) const;

  private:
    static constexpr unsigned sub_bits = 6;
    static constexpr unsigned sub_buckets = 1u << sub_bits;
    static constexpr unsigned octaves = 64 - sub_bits + 1;
    using Octave = std::array<std::uint64_t, sub_buckets>;

    std::array<std::unique_ptr<Octave>, octaves> octaves_;
    std::uint64_t calls_ = 0;
};

}  // namespace mpiprof::report
