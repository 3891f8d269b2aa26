// How long other kernels ran beside those of NCCL, on the same device: the share of communication that is hidden.
// Told intervals in any order, in portions (a buffer of CUPTI's); an interval is compared with those of its own
// portion, the one before and the one behind. Used by cupti_records.cpp, under its lock.
#pragma once

#include "libmpiprof/base/basics.h"

namespace mpiprof::gpu {

class Overlap {
  public:
    // Takes its memory, once. False: none, and everything below does nothing.
    bool open();
    void add(std::uint32_t device, std::uint64_t start, std::uint64_t end, bool is_nccl);
    // The portion is complete: tell(device, nanoseconds) for the kernels of NCCL of the one before.
    template <class Tell>
    void turn(Tell tell) {
        if (!portions_) return;
        tidy(portions_->portion[now_]);
        const Portion& before = portions_->portion[(now_ + 2) % 3];
        for (unsigned i = 0; i < before.nccl_count; ++i)
            if (const std::uint64_t ns = hidden(before.nccl[i])) tell(before.nccl[i].device, ns);
        now_ = (now_ + 1) % 3;
        portions_->portion[now_].nccl_count = portions_->portion[now_].other_count = 0;
    }

  private:
    struct Interval {
        std::uint64_t start, end;
        std::uint32_t device;
    };
    static constexpr unsigned most = 8192;  // a MiB of records has fewer
    struct Portion {
        unsigned nccl_count, other_count;
        Interval nccl[most], other[most];
    };
    struct Portions {
        Portion portion[3];
    };
    static void tidy(Portion& portion);
    std::uint64_t hidden(const Interval& nccl) const;

    Portions* portions_ = nullptr;
    unsigned now_ = 0;  // the portion that is being told
};

}  // namespace mpiprof::gpu
