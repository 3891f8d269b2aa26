// One writer under the runtime's lock, and readers in other processes: a time is there before it is counted.
#include "libmpiprof/record/iteration_times.h"

namespace mpiprof {

using format::Iterations;

Iterations* IterationTimes::of(Image& image, std::uint16_t region) {
    for (unsigned i = count_; i-- > 0;)
        if (records_[i]->region == region) return records_[i];
    if (count_ == most_regions) return nullptr;
    Iterations* record = rows_.next(image);
    if (!record) return nullptr;
    record->region = region;
    record->stride = 1;
    rows_.publish();
    return records_[count_++] = record;
}

namespace {

void leave_out_every_second(Iterations& times) {
    __atomic_store_n(&times.changes, times.changes + 1, __ATOMIC_SEQ_CST);
    for (unsigned i = 1; i < format::most_iterations / 2; ++i) times.us[i] = times.us[2 * i];
    times.stride *= 2;
    __atomic_store_n(&times.changes, times.changes + 1, __ATOMIC_SEQ_CST);
}

}  // namespace

void IterationTimes::add(Image& image, std::uint16_t region, std::uint64_t ns) {
    Iterations* times = of(image, region);
    if (!times) return;
    const std::uint64_t number = times->marked, us = (ns + 500) / 1000;
    if (number == std::uint64_t{times->stride} * format::most_iterations) leave_out_every_second(*times);
    if (number % times->stride == 0)
        __atomic_store_n(&times->us[number / times->stride], static_cast<std::uint32_t>(us < ~0u ? us : ~0u),
                         __ATOMIC_RELAXED);
    __atomic_store_n(&times->marked, number + 1, __ATOMIC_RELEASE);
}

}  // namespace mpiprof
