// Histograms and their blocks are claimed when the first duration arrives.
#include "libmpiprof/record/durations.h"

namespace mpiprof {

std::uint64_t* DurationTables::bucket(Image& image, std::uint32_t& histogram, std::uint64_t duration,
                                      format::TableType type) {
    const auto claim = [&](format::Table*& table, format::TableType kind, std::uint32_t size, std::uint32_t at_once) {
        void* fresh = image.next_record(table, kind, size, at_once, 0);
        if (!fresh) return std::uint32_t{0};
        Image::publish(table);
        return image.word_of(fresh);
    };
    if (histogram == 0) histogram = claim(histograms_, type, sizeof(format::Histogram), 4);
    if (histogram == 0) return nullptr;
    auto& octaves = image.at_word<format::Histogram>(histogram);
    const auto position = format::histogram_position(duration);
    std::uint32_t& block = octaves.block[position.octave];
    if (block == 0) block = claim(blocks_, format::TableType::histogram_blocks, sizeof(format::HistogramBlock), 8);
    if (block == 0) return nullptr;
    return image.at_word<format::HistogramBlock>(block).count + position.sub;
}

void DurationTables::count_anew(Image& image, std::uint32_t& histogram, std::uint64_t duration,
                                format::TableType type) {
    if (std::uint64_t* times = bucket(image, histogram, duration, type))
        add(*times, 1);
    else
        count_drop(image.header().drops.histograms);
}

bool DurationTables::take_back(std::uint64_t* counted) {
    if (!counted || relaxed(*counted) == 0) return false;  // there was no room for it
    relaxed(*counted, relaxed(*counted) - 1);
    return true;
}

}  // namespace mpiprof
