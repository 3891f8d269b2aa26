// How long other kernels ran beside those of NCCL, on the same device: the share of communication that is hidden; and
// how long any ran at all, of the time that was recorded. Told intervals in any order, in portions (a buffer of
// CUPTI's); an interval is compared with those of its own portion, the one before and the one behind. Used by
// cupti_records.cpp, under its lock.
#pragma once

#include "libmpiprof/base/basics.h"

namespace mpiprof::gpu {

class Overlap {
  public:
    // Takes its memory, once. False: none, and everything below does nothing.
    bool open();
    void add(std::uint32_t device, std::uint64_t start, std::uint64_t end, bool is_nccl);
    // What is added from now on is behind a time in which nothing was recorded.
    void begin_stretch();

    // What became known of a device, in nanoseconds.
    struct Known {
        std::uint32_t device;
        std::uint64_t hidden;             // of NCCL's kernels, each by itself: while others ran
        std::uint64_t nccl, nccl_hidden;  // while any of NCCL's ran; of it, while others ran
        std::uint64_t recorded, any;      // since the first kernel of the stretch; of it, while any ran
    };
    static constexpr unsigned most_devices = 16;
    // The portion is complete. How many devices there is something to say of.
    unsigned turn(Known (&known)[most_devices]);

  private:
    struct Interval {
        std::uint64_t start, end;
        std::uint32_t device;
    };
    static constexpr unsigned most = 8192;  // a MiB of records has fewer
    struct Portion {
        unsigned nccl_count, other_count, united_count;
        Interval nccl[most], other[most], united[most];  // united: of NCCL, disjoint
    };
    struct Portions {
        Portion portion[3];
    };
    // From the first kernel of a device to the last.
    struct Span {
        std::uint32_t device;
        bool is_begun;
        std::uint64_t begin, end, told;
    };
    static void tidy(Interval* all, unsigned& count);
    Span* span_of(std::uint32_t device);
    std::uint64_t beside_others(const Interval& interval, unsigned portions) const;

    Portions* portions_ = nullptr;
    unsigned now_ = 0;  // the portion that is being told
    Span spans_[most_devices] = {};
    unsigned span_count_ = 0;
};

}  // namespace mpiprof::gpu
