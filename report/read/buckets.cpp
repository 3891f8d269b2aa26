// A block belongs to one octave of one histogram, so all of them fit into the file.
#include "report/read/buckets.h"

#include <cstring>

#include "libmpiprof/format/histogram.h"

namespace mpiprof::report {
namespace {

// `block` lies in the file. Signed numbers become a double in one instruction; the last octave has none of them.
template <class Ticks>
void add_octave(std::vector<Bucket>& buckets, unsigned octave, const std::byte* block, const TickScale& scale) {
    const auto wider = static_cast<Ticks>(format::bucket_width(octave) - 1);
    for (unsigned sub = 0; sub < format::histogram_sub_buckets; ++sub) {
        std::uint64_t calls;
        std::memcpy(&calls, block + sub * sizeof calls, sizeof calls);
        if (calls == 0) continue;
        const auto begin = static_cast<Ticks>(format::bucket_begin(octave, sub));
        buckets.push_back({.low_ns = scale.ns_exact(begin), .high_ns = scale.ns_exact(begin + wider), .calls = calls});
    }
}

}  // namespace

bool BucketReader::takes_block(std::uint64_t offset) {
    const std::size_t size = tables_.bytes().size();
    const bool is_inside = lies_within(offset, sizeof(format::HistogramBlock), size);
    if (!is_inside && tables_.is_cut()) return false;
    is_damaged_ |= !is_inside || ++blocks_ > size / sizeof(format::HistogramBlock);
    return !is_damaged_;
}

BucketReader::Range BucketReader::read(const format::Histogram& histogram, const TickScale& scale) {
    Range range{.first = static_cast<std::uint32_t>(buckets_.size())};
    for (unsigned octave = 0; octave < format::histogram_octaves && !is_damaged_; ++octave) {
        if (histogram.block[octave] == 0) continue;
        const std::uint64_t offset = std::uint64_t{histogram.block[octave]} * 8;
        if (!takes_block(offset)) continue;
        const std::byte* block = tables_.bytes().data() + offset;
        if (octave + 1 < format::histogram_octaves)
            add_octave<std::int64_t>(buckets_, octave, block, scale);
        else
            add_octave<std::uint64_t>(buckets_, octave, block, scale);
    }
    range.buckets = static_cast<std::uint32_t>(buckets_.size()) - range.first;
    return range;
}

BucketReader::Range BucketReader::read_at(std::uint32_t position, const TickScale& scale) {
    const std::uint64_t offset = std::uint64_t{position} * 8;
    if (position == 0 || is_damaged_) return {};
    if (lies_within(offset, sizeof(format::Histogram), tables_.bytes().size()))
        return read(load_prefix<format::Histogram>(tables_.bytes().data() + offset, sizeof(format::Histogram)), scale);
    is_damaged_ |= !tables_.is_cut();
    return {};
}

}  // namespace mpiprof::report
