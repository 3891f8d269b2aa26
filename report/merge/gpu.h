// GpuPart: what the GPUs did for NCCL's calls, added up over some of a job's ranks, and the operations of a
// communicator held against each other. A part of a merge.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/merge/duration_counts.h"
#include "report/merge/rank_profile.h"
#include "report/model/job.h"
#include "report/model/profile.h"

namespace mpiprof::report {

class GpuPart {
  public:
    // Communicators beyond so many come from damaged files alone.
    static constexpr std::size_t most_communicators = 4096;
    // So many of a communicator's last operations are compared: as many as a rank keeps.
    static constexpr std::uint64_t most_compared = 4096;

    void add(const RankProfile& from);
    void absorb(GpuPart&& other);
    // Into Job::gpu.
    void finish(Finishing& end);

  private:
    struct Key {
        std::uint16_t call = 0;
        std::uint8_t bin = 0;
        bool is_replayed = false, is_exchange = false;
        auto operator<=>(const Key&) const = default;
    };
    struct Entry {
        GpuRow row;
        DurationCounts durations;
        std::map<std::uint64_t, std::uint64_t>
            on;  // nanoseconds of operations that wait for all members, by communicator
    };
    // One operation over the members that measured it.
    struct Operation {
        std::uint32_t measured = 0;
        std::uint32_t last_rank = 0;  // whose time was shortest; the lowest of several
        std::uint32_t shortest = 0;   // sixteenths of a microsecond
        std::uint32_t next = ~0u;     // the shortest but one; all ones: there is none
        std::uint64_t sum = 0;
    };
    struct Sequences {
        std::uint32_t members = 0;
        std::uint32_t size = 0;  // of the communicator
        std::uint64_t fewest = 0, most = 0;
        std::uint32_t fewest_rank = 0;
        std::uint32_t resolution = 0;       // sixteenths of a microsecond; differences below it mean nothing
        std::uint64_t first = 0;            // number of
        std::vector<Operation> operations;  // the last `most_compared` that any member enqueued, or fewer
    };
    struct Sum {
        std::uint64_t operations = 0, time_ns = 0;
    };

    static std::optional<double> moving_ns(const Entry& entry, const std::map<std::uint64_t, GpuComm>& comms);
    static void add_row(Entry& to, const GpuRow& from);
    void add_words(const Gpu& gpu);
    void add_work_of(const Profile& profile);
    void add_busy(const Profile& profile);
    void add_replays(const Profile& profile);
    void keep_busy();
    void add_sequence(const Profile& profile, const GpuSequence& sequence, bool by_events);
    static void merge(Sequences& to, Sequences&& from);
    static void add_operation(Operation& to, const Operation& from);
    static GpuComm compare(std::uint64_t id, const Sequences& sequences);

    std::map<Key, Entry> rows_;
    std::map<std::uint64_t, Sum> sums_;             // by id of the communicator
    std::map<std::uint64_t, Sequences> sequences_;  // the same
    std::map<GpuWorkKind, GpuWork> work_;
    std::vector<GpuBusy> busy_;
    std::uint32_t gpus_busy_ = 0;
    std::map<std::string, std::uint32_t> sources_, plugins_behind_;
    std::map<std::string, std::uint64_t> not_timed_;
    std::map<std::uint64_t, ReplayedOn> replayed_;  // by id of the communicator
    std::uint32_t ranks_missing_replays_ = 0;
    std::uint64_t records_dropped_ = 0;
    std::uint32_t ranks_by_events_ = 0, ranks_by_cupti_ = 0, ranks_with_work_ = 0, devices_with_work_ = 0;
};

}  // namespace mpiprof::report
