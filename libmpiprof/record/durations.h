// Histograms of durations that are no calls of one thread: of regions, of operations on the GPU. One table of them for
// each owner, who guards it; what they count lies in the image at once.
#pragma once

#include "libmpiprof/format/histogram.h"
#include "libmpiprof/record/image.h"

namespace mpiprof {

class DurationTables {
  protected:
    void count_anew(Image& image, std::uint32_t& histogram, std::uint64_t duration, format::TableType type);
    std::uint64_t* bucket(Image& image, std::uint32_t& histogram, std::uint64_t duration, format::TableType type);
    static bool take_back(std::uint64_t* counted);

  private:
    format::Table* histograms_ = nullptr;
    format::Table* blocks_ = nullptr;
};

template <format::TableType type>
class Durations : DurationTables {
  public:
    // Counts one more in the histogram that lies at file offset / 8 `histogram`; 0: it has none yet. Without room the
    // drop counter says so.
    void count(Image& image, std::uint32_t& histogram, std::uint64_t duration) {
        if (histogram != 0) [[likely]] {
            const auto position = format::histogram_position(duration);
            const std::uint32_t block = image.at_word<format::Histogram>(histogram).block[position.octave];
            if (block != 0) [[likely]]
                return add(image.at_word<format::HistogramBlock>(block).count[position.sub], 1);
        }
        count_anew(image, histogram, duration, type);
    }
    // One that was counted turned out to be another.
    void correct(Image& image, std::uint32_t& histogram, std::uint64_t counted, std::uint64_t duration) {
        if (take_back(bucket(image, histogram, counted, type))) count(image, histogram, duration);
    }
};

}  // namespace mpiprof
