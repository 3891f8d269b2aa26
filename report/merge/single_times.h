// How long the iterations of all ranks took, each by itself, in us: for percentiles that are exact, as numpy's are. Of
// a job with more different times than a person could want they are rounded, the same way whatever the order in which
// ranks are added. For merge only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "report/model/region.h"

namespace mpiprof::report {

class SingleTimes {
  public:
    // Each of them stands for `count`.
    void add(std::span<const std::uint32_t> us, std::uint32_t count);
    void absorb(SingleTimes&& other);
    // Ascending, each time once.
    std::vector<RegionRow::Times> take();

  private:
    static constexpr std::size_t most_different = std::size_t{1} << 20;
    void settle();

    std::vector<RegionRow::Times> times_;  // the first `settled_` are sorted, each time once
    std::size_t settled_ = 0;
    unsigned rounded_bits_ = 0;
};

}  // namespace mpiprof::report
