// Books times on the GPU into the profile: totals and a histogram per (call, size bin, communicator), and the last
// times of each communicator in the order in which its operations were enqueued. Used by events.cpp and
// cupti_records.cpp, from any thread (CUPTI has one of its own); its lock is held for some instructions, and never
// while CUDA is asked anything.
#pragma once

#include "libmpiprof/base/open_table.h"
#include "libmpiprof/process/runtime.h"
#include "libmpiprof/record/durations.h"

namespace mpiprof::gpu {

using format::GpuSource;

// What one time is booked for.
struct Booked {
    std::uint16_t call;
    std::uint8_t bin;
    std::uint16_t communicator;
    std::uint16_t flags;  // format::GpuTimeFlags
    Bytes bytes;
    Bytes others;               // as in format::GpuTime
    std::uint64_t number;       // of the communicator's collectives, from 1 on; 0: not one of these
    std::uint16_t numbered_by;  // whose number it is
};

// What an engine of a GPU did, of one kind.
struct Worked {
    format::GpuWorkKind kind;
    std::uint32_t device = 0;
    std::uint64_t count = 0;
    Bytes bytes = 0;
    std::uint64_t ns = 0, overlapped_ns = 0;  // together, and of it beside other kernels
    std::uint64_t in_graphs = 0;
};

class Times {
  public:
    void book(const Booked& what, GpuSource source, std::uint64_t ns, std::uint64_t kernels);
    // What was booked with so many nanoseconds turned out to be longer, by so many kernels more.
    void prolong(const Booked& what, GpuSource source, std::uint64_t booked_ns, std::uint64_t ns,
                 std::uint64_t kernels);
    // One more collective of this communicator was enqueued. Its number, from 1 on; 0: there is no room for its times.
    std::uint64_t enqueue(std::uint16_t communicator);
    void work(const Worked& what);
    // So many operations, of these bytes together, whose times nobody took.
    void count(const Booked& what, std::uint64_t operations);

  private:
    // Found in the tables, else made; and, before that, among those that were wanted last.
    format::GpuTime* record(const Booked& what, GpuSource source);
    format::GpuSequence* sequence(std::uint16_t communicator);
    format::GpuTime* record_again(const Booked& what, GpuSource source);
    format::GpuSequence* sequence_again(std::uint16_t communicator);
    void remember(const Booked& what, GpuSource source, std::uint64_t ns);

    static constexpr unsigned most_sequences = 64;  // of 16 KiB each
    static constexpr unsigned most_work = 256;
    Lock lock_;
    Rows<format::GpuTime, 16> rows_;
    OpenTable<format::GpuTime*, OpenTableSize{.inside = 2048, .outside = 0, .most = 2048}> known_{};
    Durations<format::TableType::gpu_durations> durations_;
    format::GpuSequence* sequences_[most_sequences] = {};
    format::GpuSequence* last_sequences_[8] = {};  // by communicator
    struct Last {
        std::uint64_t key;
        format::GpuTime* record;  // null: there is none
    } last_records_[16] = {};     // by a hash of the key
    unsigned sequence_count_ = 0;
    Rows<format::GpuWork, 16> work_rows_;
    format::GpuWork* work_[most_work] = {};
    unsigned work_count_ = 0;
};

[[gnu::visibility("hidden")]] extern constinit Times times;

}  // namespace mpiprof::gpu
