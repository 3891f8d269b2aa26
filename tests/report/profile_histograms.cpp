#include "tests/report/profile_histograms.h"

#include <cstddef>
#include <cstring>

#include "tests/report/profile_header.h"

namespace mpiprof::test {

std::uint32_t Histograms::of(std::uint16_t call, std::uint8_t bin, std::uint32_t thread,
                             const std::vector<std::pair<std::uint64_t, std::uint64_t>>& times) {
    const auto key = std::make_tuple(thread, call, bin);
    if (!histograms_.contains(key)) {
        format::Histogram histogram{};
        histogram.call = call;
        histogram.bin = bin;
        histograms_[key] = tables_.add(format::TableType::histograms, thread, histogram);
    }
    const std::uint32_t index = histograms_[key];
    for (const auto& [ns, n] : times) count(thread, index, format::histogram_position(ticks_of(spec_, ns)), n);
    return index;
}

void Histograms::add_requests(const CellSpec& spec, std::uint32_t index) {
    Bytes& bytes = tables_.of(format::TableType::histograms, spec.thread, sizeof(format::Histogram)).bytes;
    format::Histogram histogram{};
    std::byte* at = bytes.data() + index * sizeof histogram;
    std::memcpy(&histogram, at, sizeof histogram);
    histogram.completed += spec.requests;
    histogram.in_flight_ticks += ticks_of(spec_, spec.in_flight_ns);
    histogram.blocked_ticks += ticks_of(spec_, spec.blocked_ns);
    histogram.inside_ticks += ticks_of(spec_, spec.inside_ns.value_or(spec.blocked_ns));
    std::memcpy(at, &histogram, sizeof histogram);
}

void Histograms::count(std::uint32_t thread, std::uint32_t histogram, format::Position position, std::uint64_t n,
                       format::TableType type) {
    Bytes& bytes = tables_.of(type, thread, sizeof(format::Histogram)).bytes;
    const std::size_t slot = histogram * sizeof(format::Histogram) + offsetof(format::Histogram, block) +
                             position.octave * sizeof(std::uint32_t);
    std::uint32_t block = 0;  // record number + 1
    std::memcpy(&block, bytes.data() + slot, sizeof block);
    if (block == 0) {
        block = 1 + tables_.add(format::TableType::histogram_blocks, thread, format::HistogramBlock{});
        Bytes& again = tables_.of(type, thread, sizeof(format::Histogram)).bytes;
        std::memcpy(again.data() + slot, &block, sizeof block);
    }
    Bytes& blocks = tables_.of(format::TableType::histogram_blocks, thread, sizeof(format::HistogramBlock)).bytes;
    const std::size_t at = (block - 1) * sizeof(format::HistogramBlock) + position.sub * sizeof(std::uint64_t);
    std::uint64_t value = 0;
    std::memcpy(&value, blocks.data() + at, sizeof value);
    value += n;
    std::memcpy(blocks.data() + at, &value, sizeof value);
}

}  // namespace mpiprof::test
