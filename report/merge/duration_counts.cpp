// Buckets of the merged durations.
#include "report/merge/duration_counts.h"

#include <algorithm>
#include <bit>

namespace mpiprof::report {

inline void DurationCounts::add(const Bucket& bucket) {
    const double middle = (bucket.low_ns + bucket.high_ns) / 2 + 0.5;
    const std::uint64_t ns = middle >= 0x1p63 ? std::uint64_t{1} << 63
                             : middle > 0     ? static_cast<std::uint64_t>(static_cast<std::int64_t>(middle))
                                              : 0;
    const unsigned octave = ns < sub_buckets ? 0 : static_cast<unsigned>(std::bit_width(ns)) - sub_bits;
    const std::uint64_t sub = octave == 0 ? ns : (ns >> (octave - 1)) & (sub_buckets - 1);
    if (!octaves_[octave]) octaves_[octave] = std::make_unique<Octave>();
    (*octaves_[octave])[sub] += bucket.calls;
    calls_ += bucket.calls;
}

void DurationCounts::add(std::span<const Bucket> buckets) {
    for (const Bucket& bucket : buckets) add(bucket);
}

void DurationCounts::add(const DurationCounts& other) {
    for (unsigned octave = 0; octave < octaves; ++octave) {
        if (!other.octaves_[octave]) continue;
        if (!octaves_[octave]) octaves_[octave] = std::make_unique<Octave>();
        for (unsigned sub = 0; sub < sub_buckets; ++sub) (*octaves_[octave])[sub] += (*other.octaves_[octave])[sub];
    }
    calls_ += other.calls_;
}

double DurationCounts::percentile(double share) const {
    const double wanted = share * static_cast<double>(calls_);
    std::uint64_t seen = 0;
    double last = 0;
    for (unsigned octave = 0; octave < octaves; ++octave) {
        if (!octaves_[octave]) continue;
        for (unsigned sub = 0; sub < sub_buckets; ++sub) {
            const std::uint64_t calls = (*octaves_[octave])[sub];
            if (calls == 0) continue;
            seen += calls;
            const double width = octave == 0 ? 1 : static_cast<double>(std::uint64_t{1} << (octave - 1));
            const double begin = octave == 0 ? sub : static_cast<double>(sub_buckets + sub) * width;
            last = begin + (width - 1) / 2;
            if (static_cast<double>(seen) >= wanted) return last;
        }
    }
    return last;
}

std::vector<std::uint64_t> DurationCounts::by_octave() const {
    std::vector<std::uint64_t> counts(octaves + sub_bits, 0);
    for (unsigned octave = 0; octave < octaves; ++octave) {
        if (!octaves_[octave]) continue;
        for (unsigned sub = 0; sub < sub_buckets; ++sub) {
            // The first holds single ns, each other one from 2^(octave + sub_bits - 1) on.
            const unsigned power =
                octave == 0 ? static_cast<unsigned>(std::bit_width(std::max(sub, 1u))) - 1 : octave + sub_bits - 1;
            counts[power] += (*octaves_[octave])[sub];
        }
    }
    while (!counts.empty() && counts.back() == 0) counts.pop_back();
    return counts;
}

}  // namespace mpiprof::report
