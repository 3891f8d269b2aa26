// What the GPU did for NCCL's calls, and beside them: of one rank, and of a job.
// read/ makes the one, merge/gpu the other; sections ask.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/model/words.h"

namespace mpiprof::report {

// ---- of one rank ----

// Operations of one (call, size bin, communicator) whose time on the GPU is known.
struct GpuTime {
    std::uint16_t call = 0;  // index into Profile::calls; of a mixed group: its end
    std::uint8_t bin = 0;
    GpuSource source = GpuSource::none;
    std::uint16_t communicator = 0;  // index into Profile::communicators; 0 = not told apart
    bool is_replayed = false;        // by CUDA graphs: no call in the cells
    bool is_exchange = false;        // groups that send and receive, and do nothing else
    std::uint64_t operations = 0;
    std::uint64_t bytes = 0;
    std::uint64_t others_bytes = 0;  // of an exchange: what of `bytes` was for other ranks, or from them
    std::uint64_t time_ns = 0;
    std::uint64_t min_ns = 0;  // of one operation
    std::uint64_t max_ns = 0;
    std::uint64_t kernels = 0;       // 0 = not known
    std::uint32_t first_bucket = 0;  // into Profile::buckets
    std::uint32_t buckets = 0;
};

// Operations that replays of CUDA graphs repeated: no call in the cells, and no time.
struct Replays {
    std::uint16_t call = 0;          // index into Profile::calls
    std::uint16_t communicator = 0;  // index into Profile::communicators; 0 = not told apart
    std::uint64_t operations = 0;
    std::uint64_t bytes = 0;
};

// How long the last operations of one communicator were on the GPU, in the order of enqueuing, which is that of its
// other members.
struct GpuSequence {
    std::uint16_t communicator = 0;
    GpuSource source = GpuSource::none;  // of the last of these
    std::uint64_t enqueued = 0;          // operations in all
    std::vector<std::uint32_t> us16;     // of the last of these, in sixteenths of a microsecond; 0 = not measured
    std::uint64_t first() const { return enqueued - us16.size(); }  // number of the first of them
};

// All that one of its GPUs did, as far as CUPTI told.
struct GpuWork {
    GpuWorkKind kind = GpuWorkKind::other_kernels;
    std::uint32_t device = 0;
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    std::uint64_t time_ns = 0;
    std::uint64_t overlapped_ns = 0;  // of NCCL's kernels: while another kernel ran
    std::uint64_t in_graphs = 0;      // of count

    GpuWork& operator+=(const GpuWork& more) {  // of the same kind
        count += more.count;
        bytes += more.bytes;
        time_ns += more.time_ns;
        overlapped_ns += more.overlapped_ns;
        in_graphs += more.in_graphs;
        return *this;
    }
};

struct Gpu {
    std::vector<GpuTime> times;
    std::vector<Replays> replays;
    std::vector<GpuSequence> sequences;
    std::vector<GpuWork> work;
    std::string source_of_times;                     // as the library says it; empty: no time was taken
    std::map<std::string, std::uint64_t> not_timed;  // why -> operations that have no time
    std::uint64_t records_dropped = 0;               // by CUPTI
    bool has_captured = false;                       // operations, into CUDA graphs
    bool follows_graphs = false;                     // replays of CUDA graphs are counted,
    bool misses_graphs = false;                      // of some they are not
    std::string plugin_behind;                       // NCCL's other profiler plugin, as the library says it
};

// ---- of a job ----

// One (call, size bin) over ranks and communicators.
struct GpuRow {
    std::uint16_t call = 0;  // index into Job::calls
    std::uint8_t bin = 0;
    bool is_replayed = false;
    bool is_exchange = false;
    std::uint64_t operations = 0;
    std::uint64_t bytes = 0;
    std::uint64_t others_bytes = 0;
    std::uint64_t time_ns = 0;
    std::uint64_t min_ns = 0;
    std::uint64_t max_ns = 0;
    std::uint64_t kernels = 0;
    std::uint32_t ranks = 0;
    bool by_events = false, by_cupti = false, by_launches = false;
    std::optional<double> p50_ns{}, p99_ns{};
    // Of time_ns without waiting for the rank that came last: an estimate, by how long the operations of the same
    // communicators waited that were held against each other over their members. Where that is known.
    std::optional<double> moving_ns{};

    GpuRow& operator+=(const GpuRow& more) {  // what is measured, of the same call and size
        min_ns = operations == 0 ? more.min_ns : std::min(min_ns, more.min_ns);
        max_ns = std::max(max_ns, more.max_ns);
        operations += more.operations;
        bytes += more.bytes;
        others_bytes += more.others_bytes;
        time_ns += more.time_ns;
        kernels += more.kernels;
        ranks += more.ranks;
        by_events |= more.by_events;
        by_cupti |= more.by_cupti;
        by_launches |= more.by_launches;
        return *this;
    }
};

// The operations of one communicator, held against each other over its members. The last of them that came begins to
// move data at once: the shortest time of an operation is its transfer, and what the others took longer is waiting for
// that rank.
struct GpuComm {
    struct Late {
        std::uint32_t rank = 0;
        std::uint64_t operations = 0;  // of those compared, it came last to so many, and clearly
        std::uint64_t waited_ns = 0;   // for it, by all other members together
    };
    std::uint64_t id = 0;
    std::uint32_t members = 0;                   // that have been compared
    std::uint64_t operations = 0;                // whose time is known, over all members
    std::uint64_t time_ns = 0;                   // of these
    std::uint64_t compared = 0;                  // operations that were measured on all members
    static constexpr std::uint64_t enough = 20;  // of them, for a share of waiting that means something
    std::uint64_t compared_ns = 0;               // their times on all members
    std::uint64_t waiting_ns = 0;                // of these
    std::vector<Late> late{};                    // those waited for longest first
    std::uint64_t fewest_enqueued = 0, most_enqueued = 0;
    std::uint32_t fewest_rank = 0;

    // Of the time of those compared; empty: too few were.
    std::optional<double> waiting_share() const {
        if (compared < enough || compared_ns == 0) return std::nullopt;
        return static_cast<double>(waiting_ns) / static_cast<double>(compared_ns);
    }
};

// What replays of CUDA graphs repeated on one communicator, over all members.
struct ReplayedOn {
    std::uint64_t id = 0;                                   // 0: those that cannot be told apart
    std::uint64_t collectives = 0, sends_and_receives = 0;  // and one-sided
    std::uint64_t bytes = 0;
    std::uint64_t operations() const { return collectives + sends_and_receives; }
    ReplayedOn& operator+=(const ReplayedOn& more) {
        collectives += more.collectives;
        sends_and_receives += more.sends_and_receives;
        bytes += more.bytes;
        return *this;
    }
};

// How busy one GPU of a rank was while CUPTI recorded it: from the first kernel to the last.
struct GpuBusy {
    std::uint32_t rank = 0, device = 0;
    std::uint64_t recorded_ns = 0;
    std::uint64_t any_ns = 0;                                        // of it: some kernel ran
    std::uint64_t nccl_ns = 0;                                       // of that: one of NCCL's
    std::uint64_t nccl_hidden_ns = 0;                                // of that: another one, too
    std::uint64_t computing_ns() const { return any_ns - nccl_ns; }  // others alone
    std::uint64_t exposed_ns() const { return nccl_ns - nccl_hidden_ns; }
    std::uint64_t idle_ns() const { return recorded_ns - any_ns; }
};

struct GpuJob {
    std::vector<GpuRow> rows;                               // sorted by call, bin, replayed
    std::vector<GpuComm> comms;                             // by id
    std::vector<GpuWork> work;                              // by kind, over devices and ranks
    std::vector<GpuBusy> busy;                              // those that idled longest first
    std::uint32_t gpus_busy = 0;                            // how many of them there are, kept or not
    std::uint32_t ranks_by_events = 0, ranks_by_cupti = 0;  // whose times are known from there
    std::uint32_t ranks_with_work = 0;
    std::uint32_t devices_with_work = 0;
    std::vector<ReplayedOn> replayed;         // by id
    std::uint32_t ranks_missing_replays = 0;  // where graphs are replayed, or may be, without being counted
    // Where ranks say that their times are from, or why they have none: "events: CUPTI is too old (12)". With how many
    // they are.
    std::map<std::string, std::uint32_t> sources;
    std::map<std::string, std::uint32_t> plugins_behind;
    // Operations without a time, by why: "captured", "unfinished" ...
    std::map<std::string, std::uint64_t> not_timed;
    std::uint64_t records_dropped = 0;  // by CUPTI
    bool is_empty() const { return rows.empty() && work.empty(); }
    // Where ranks waited longest for others; null: nowhere that is known.
    const GpuComm* most_waiting() const {
        const GpuComm* most = nullptr;
        for (const GpuComm& comm : comms)
            if (!comm.late.empty() && (!most || comm.waiting_ns > most->waiting_ns)) most = &comm;
        return most && most->waiting_share() ? most : nullptr;
    }
    // NCCL's kernels, of all devices: their time, and that of it in which no other kernel ran.
    struct Exposed {
        double kernels_ns = 0, exposed_ns = 0;
    };
    Exposed exposed() const {
        Exposed all;
        for (const GpuWork& one : work)
            if (one.kind == GpuWorkKind::nccl_kernels) {
                all.kernels_ns += static_cast<double>(one.time_ns);
                all.exposed_ns += static_cast<double>(one.time_ns - one.overlapped_ns);
            }
        return all;
    }
    std::uint64_t replayed_operations() const {
        std::uint64_t operations = 0;
        for (const ReplayedOn& on : replayed) operations += on.operations();
        return operations;
    }
    bool has_launches() const {
        return std::any_of(rows.begin(), rows.end(), [](const GpuRow& row) { return row.by_launches; });
    }
};

}  // namespace mpiprof::report
