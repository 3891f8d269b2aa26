// What CUPTI's activity records mean: when each kernel began and ended, of the whole process. Those of NCCL are matched
// with the launches that they belong to by the number that the launch was given; the rest are sums. Books into times.h
// alone. Called by cupti.cpp; never calls CUPTI but to walk a buffer.
#pragma once

#include "libmpiprof/gpu/cupti_interface.h"
#include "libmpiprof/gpu/overlap.h"
#include "libmpiprof/gpu/times.h"

namespace mpiprof::gpu {

class CuptiRecords {
  public:
    // Takes its memory, before the first record. False: there is none.
    bool open();
    // One launch, on these devices: its number, one more for each further device. 0: nobody said open().
    std::uint64_t number(const std::uint32_t* devices, unsigned count);
    // What one of these was, or that it was nothing.
    void describe(std::uint64_t number, const Booked& what);
    void cancel(std::uint64_t number);
    // A buffer of records, walked by CUPTI's own function.
    void parse(decltype(cupti::Functions::next_record) next, std::uint8_t* buffer, std::size_t valid);
    // Records are made again, after a time without any.
    void begin_stretch();
    // The end of a profile, though more may come: what is known is booked.
    void finish();
    // Launches without kernels up to then.
    std::uint64_t unfinished() const { return forgotten_ + without_kernels_; }

  private:
    // One launch on one device.
    struct Traced {
        std::uint64_t number;  // 0: free
        std::uint32_t device;
        std::uint16_t companions;  // numbers of the launch behind this one
        bool is_described, is_booked;
        std::uint32_t launched;  // by so many calls of the driver
        std::uint32_t kernels;
        std::uint64_t first, last;  // begin of the first kernel, end of the last
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
        bool is_there;
    };
    struct Name {
        bool is_nccl;
        std::uint16_t call;
    };
    // Of NCCL's, by where it lies and how it begins: behind that nothing matters.
    struct KnownName {
        static constexpr std::size_t length = 48;
        char text[length];
        Name name;
    };

    void see(const std::uint8_t* record);
    void see_kernel(const cupti::Kernel& kernel);
    void see_copy(const cupti::Memcpy& copy);
    void see_link(const cupti::ExternalCorrelation& link);
    void add_kernel(std::uint64_t number, std::uint32_t device, std::uint64_t start, std::uint64_t end);
    Traced* traced(std::uint64_t number);
    void touch(Traced& t);
    void book(Traced& t);
    void book_if_complete(Traced& t);
    Name name_of(const char* text);
    static Name look_at(const char* text);
    void turn();

    // What is under way: launches up to a second old, since kernels and the calls that launched them come in different
    // buffers, each when it is full or a second is over. Programs that generate text make ten thousand a second.
    static constexpr unsigned most_traced = 32768, links = 65536, waiting = 16384, most_touched = 64;
    struct Pages {
        Traced traced[most_traced];
        Link link[links];
        Waiting kernel[waiting];
    };
    Lock lock_;
    Pages* pages_ = nullptr;
    std::uint64_t numbers_ = 0;
    std::uint64_t forgotten_ = 0, without_kernels_ = 0;
    std::uint64_t touched_[most_touched] = {};
    unsigned touched_count_ = 0;
    KnownName names_[16] = {};
    Overlap overlap_;
};

}  // namespace mpiprof::gpu
