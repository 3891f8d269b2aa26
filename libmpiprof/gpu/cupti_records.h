// What CUPTI's activity records mean: when each kernel began and ended, of the whole process. Those of NCCL are matched with the
// launches that they belong to by the number that the launch was given; the rest are sums. Books into times.h alone. Called by
// cupti.cpp; never calls CUPTI but to walk a buffer.
#pragma once

#include "libmpiprof/gpu/cupti_interface.h"
#include "libmpiprof/gpu/overlap.h"
#include "libmpiprof/gpu/times.h"

namespace mpiprof::gpu {

class CuptiRecords {
  public:
    // Before the first record.
    void open() { overlap_.open(); }
    // One launch, on these devices: its number, one more for each further device.
    std::uint64_t number(const std::uint32_t* devices, unsigned count);
    // What one of these was, or that it was nothing.
    void describe(std::uint64_t number, const Booked& what);
    void cancel(std::uint64_t number);
    // A buffer of records, walked by CUPTI's own function.
    void parse(decltype(cupti::Functions::next_record) next, std::uint8_t* buffer, std::size_t valid);
    // Nothing more comes: what is known is booked.
    void finish();

    std::uint64_t unfinished = 0;  // launches without kernels up to the end

  private:
    // One launch on one device.
    struct Traced {
        std::uint64_t number;        // 0: free
        std::uint32_t device;
        std::uint16_t companions;    // numbers of the launch behind this one
        bool is_described, is_booked;
        std::uint32_t launched;      // by so many calls of the driver
        std::uint32_t kernels;
        std::uint64_t first, last;   // begin of the first kernel, end of the last
        Booked what;
    };
    // Kernels and what they belong to come in any order.
    struct Link {
        std::uint32_t correlation;
        std::uint64_t number;
    };
    struct Waiting {
        std::uint32_t correlation, device;
        std::uint64_t start, end;
    };
    struct Name {
        const char* name;
        bool is_nccl;
        std::uint16_t call;
    };

    void see(const std::uint8_t* record);
    void see_kernel(const cupti::Kernel& kernel);
    void see_copy(const cupti::Memcpy& copy);
    void see_link(const cupti::ExternalCorrelation& link);
    void add_kernel(std::uint64_t number, std::uint32_t device, std::uint64_t start, std::uint64_t end);
    Traced* traced(std::uint64_t number);
    void book(Traced& t);
    void book_if_complete(Traced& t);
    Name& name_of(const char* name);
    void turn();

    static constexpr unsigned most_traced = 4096, links = 8192, waiting = 1024, names = 256, most_touched = 64;
    Lock lock_;
    std::uint64_t numbers_ = 0;
    Traced traced_[most_traced] = {};
    Link links_[links] = {};
    Waiting waiting_[waiting] = {};
    Name names_[names] = {};
    std::uint64_t touched_[most_touched] = {};
    unsigned touched_count_ = 0;
    Overlap overlap_;
};

}  // namespace mpiprof::gpu
