// How long the iterations of a region took, each by itself: the first 4,096, and of more every second, fourth, ... A
// region's first mark takes the space; a process that marks nothing has none. For Regions, which guards it.
#pragma once

#include "libmpiprof/record/rows.h"

namespace mpiprof {

class IterationTimes {
  public:
    void add(Image& image, std::uint16_t region, std::uint64_t ns);

  private:
    static constexpr unsigned most_regions = 64;  // 1 MiB of them; what others took is in their histograms alone
    format::Iterations* of(Image& image, std::uint16_t region);

    format::Iterations* records_[most_regions] = {};
    unsigned count_ = 0;
    Rows<format::Iterations, 1> rows_;
};

}  // namespace mpiprof
