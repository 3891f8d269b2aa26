// The counts of a profile's histograms -> Profile::buckets, every offset checked. Used by the readers of calls, of
// regions and of GPU times.
#pragma once

#include <vector>

#include "libmpiprof/format/layout.h"
#include "report/model/profile.h"
#include "report/read/tables.h"
#include "report/read/tick_scale.h"

namespace mpiprof::report {

class BucketReader {
  public:
    BucketReader(const Tables& tables, std::vector<Bucket>& buckets) : tables_(tables), buckets_(buckets) {}
    struct Range {
        std::uint32_t first = 0, buckets = 0;  // into the buckets
    };
    // Those of a histogram, whose durations `scale` makes nanoseconds of. What leads out of the file has none.
    Range read(const format::Histogram& histogram, const TickScale& scale);
    // The same by where it lies, in units of 8 bytes; 0 is none.
    Range read_at(std::uint32_t position, const TickScale& scale);
    // Something led out of the file.
    bool is_damaged() const { return is_damaged_; }

  private:
    bool takes_block(std::uint64_t offset);

    const Tables& tables_;
    std::vector<Bucket>& buckets_;
    std::uint64_t blocks_ = 0;  // read so far
    bool is_damaged_ = false;
};

}  // namespace mpiprof::report
