// Sorted now and then: adding is then no dearer than sorting all at the end, and needs no more room than the result.
#include "report/merge/single_times.h"

#include <algorithm>
#include <utility>

namespace mpiprof::report {

void SingleTimes::add(std::span<const std::uint32_t> us, std::uint32_t count) {
    for (const std::uint32_t one : us) times_.push_back({one >> rounded_bits_ << rounded_bits_, count});
    if (times_.size() > 2 * settled_ + 65536) settle();
}

void SingleTimes::absorb(SingleTimes&& other) {
    rounded_bits_ = std::max(rounded_bits_, other.rounded_bits_);
    times_.insert(times_.end(), other.times_.begin(), other.times_.end());
    settle();
}

void SingleTimes::settle() {
    for (;; ++rounded_bits_) {
        for (RegionRow::Times& time : times_) time.us = time.us >> rounded_bits_ << rounded_bits_;
        std::sort(times_.begin(), times_.end(),
                  [](const RegionRow::Times& a, const RegionRow::Times& b) { return a.us < b.us; });
        std::size_t last = 0;
        for (std::size_t i = 1; i < times_.size(); ++i)
            if (times_[i].us == times_[last].us)
                times_[last].count += times_[i].count;
            else
                times_[++last] = times_[i];
        times_.resize(std::min(times_.size(), last + 1));
        if (times_.size() <= most_different) break;
    }
    settled_ = times_.size();
}

std::vector<RegionRow::Times> SingleTimes::take() {
    settle();
    return std::move(times_);
}

}  // namespace mpiprof::report
