// Duration -> histogram position and back: log-linear, 16 sub-buckets an octave, so a value read back as the
// middle of its bucket is within 1/32 of the truth. The ledger counts with it, the reporter's percentiles read with it.
#pragma once

#include "libmpiprof/format/layout.h"

namespace mpiprof::format {

struct Position {
    unsigned octave;
    unsigned sub;
};

constexpr Position histogram_position(std::uint64_t ticks) {
    if (ticks < histogram_sub_buckets) return {0, static_cast<unsigned>(ticks)};
    const unsigned top = 63u ^ static_cast<unsigned>(__builtin_clzll(ticks));  // one instruction, unlike 63 - clz
    return {top - histogram_sub_bits + 1,
            static_cast<unsigned>(ticks >> (top - histogram_sub_bits)) & (histogram_sub_buckets - 1)};
}

// Smallest duration that falls into the bucket, in ticks.
constexpr std::uint64_t bucket_begin(unsigned octave, unsigned sub) {
    if (octave == 0) return sub;
    return (std::uint64_t{histogram_sub_buckets} + sub) << (octave - 1);
}

// Number of different durations in a bucket, in ticks.
constexpr std::uint64_t bucket_width(unsigned octave) { return octave == 0 ? 1 : std::uint64_t{1} << (octave - 1); }

static_assert(histogram_position(15).octave == 0 && histogram_position(16).octave == 1 &&
              histogram_position(16).sub == 0);
static_assert(histogram_position(31).octave == 1 && histogram_position(32).octave == 2);
static_assert(bucket_begin(histogram_position(1000).octave, histogram_position(1000).sub) <= 1000);
static_assert(histogram_position(~std::uint64_t{0}).octave == histogram_octaves - 1);

}  // namespace mpiprof::format
