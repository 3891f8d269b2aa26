// Job: the profiles of one launch merged. merge/ makes it; sections, layouts and exports ask it.
// It holds a short record of every rank and sums over ranks for every (call, size bin, buffer). The cells of
// single ranks are held only for the ranks that were asked for, so 100 000 ranks fit into memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/model/activity.h"
#include "report/model/call_sites.h"
#include "report/model/comms.h"
#include "report/model/comparison.h"
#include "report/model/gpu.h"
#include "report/model/hanging.h"
#include "report/model/job_note.h"
#include "report/model/left_over.h"
#include "report/model/number_list.h"
#include "report/model/pace.h"
#include "report/model/placement.h"
#include "report/model/profile.h"
#include "report/model/region.h"
#include "report/model/setting_row.h"
#include "report/model/sorted.h"
#include "report/model/words.h"

namespace mpiprof::report {

// What one rank spent on one (call, size bin, buffer), over its threads, sites and communicators.
struct Sum {
    std::uint16_t call = 0;  // index into Job::calls
    std::uint8_t bin = 0;
    Buffer buffer = Buffer::host;
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t time_ns = 0;
    std::optional<std::uint64_t> min_ns{};  // of one call; empty where not known
    std::uint64_t max_ns = 0;
    std::uint64_t errors = 0;
    std::uint64_t untimed_calls = 0;       // of `calls`: without time
    std::uint64_t other_thread_calls = 0;  // of `calls`: made by other threads than the main thread
    std::uint64_t other_thread_ns = 0;     // of `time_ns`
    // On the GPU, of NCCL's calls whose time there is known; replays of CUDA graphs are no calls.
    std::uint64_t gpu_operations = 0;
    std::uint64_t gpu_bytes = 0;
    std::uint64_t gpu_ns = 0;

    std::uint64_t timed_calls() const { return calls - untimed_calls; }
    bool is_untimed() const { return calls != 0 && untimed_calls == calls; }
};

// The same over all ranks.
struct Row {
    Sum sum;
    std::uint32_t ranks = 0;         // how many ranks made such a call
    std::uint64_t largest_ns = 0;    // time of the rank that spent most
    std::uint32_t largest_rank = 0;  // the lowest of them
    // Percentiles of the duration of one call over all ranks; absent where no histogram was recorded.
    // They are of (call, bin): absent where several kinds of buffers share it.
    std::optional<double> p05_ns{}, p50_ns{}, p99_ns{};
    // Where there are percentiles: how many calls took how long, see Job::calls_by_octave().
    std::uint32_t first_octave = 0, octaves = 0;
    // Requests that such calls posted, see Histogram; of (call, bin): with the first of its kinds of buffers.
    std::uint64_t requests = 0;
    std::uint64_t in_flight_ns = 0;
    std::uint64_t blocked_ns = 0;
    std::uint64_t inside_ns = 0;
    // Of the time in flight: outside the Wait or Test that completed them. Not known of files without `inside`.
    std::optional<double> overlapped() const {
        if (in_flight_ns == 0 || (inside_ns == 0 && blocked_ns != 0)) return {};
        return inside_ns < in_flight_ns ? 1 - static_cast<double>(inside_ns) / static_cast<double>(in_flight_ns) : 0;
    }
    // Time above that of the fastest call of the same size on as many ranks, in calls that may wait for others: an
    // estimate of waiting, see merge/waits.
    std::uint64_t waiting_ns = 0;
    std::uint64_t judged_ns = 0;    // of time_ns: where it can be estimated
    std::uint64_t compared_ns = 0;  // of judged_ns: where it is known, by lining up the calls of all members
    // Calls that have not returned, of sizes that are not known: never in Job::rows, see unfinished_rows().
    bool is_unfinished = false;
};

// Where a rank was killed, its end is its last sign of life, or that of the job.
struct Rank : RankFacts {
    bool has_profile = true;                // false: only known from the rank table of another rank's mpitrace text
    std::uint32_t host = 0;                 // index into Job::hosts
    std::uint32_t node = 0;                 // index into Job::nodes
    std::uint64_t assumed_ns = 0;           // of elapsed_ns: nothing was heard of it, but others lived on
    std::uint64_t mpi_ns = 0;               // all timed calls (MPI_Init and MPI_Finalize are none of them)
    std::uint64_t nccl_ns = 0;              // of that: NCCL's, on the host
    std::uint64_t mpi_other_thread_ns = 0;  // of that: on other threads than the main thread
    std::uint32_t other_threads = 0;        // so many of them, at most so many at a time
    std::uint64_t busiest_thread_ns = 0;    // of mpi_ns: on the thread that has most of it
    std::uint64_t file_ns = 0;              // of mpi_ns: in MPI-IO (Traffic::file); the layouts count it apart
    std::uint64_t other_ns = 0;             // of mpi_ns: in calls that neither move data nor wait for it
    std::uint64_t calls = 0;                // timed calls
    std::uint64_t waiting_ns = 0;           // of mpi_ns, estimated as in Row; where all ranks are judged
    std::uint64_t judged_ns = 0;
    std::uint64_t compared_ns = 0;
    std::uint64_t message_bytes = 0;  // never file traffic
    std::uint64_t file_bytes = 0;
    std::uint64_t errors = 0;
    std::uint64_t cpu_ns = 0;                // all threads', since MPI_Init where that is known; 0 = not known
    std::optional<std::int32_t> cpu{};       // the processor it ran on, where known
    std::uint32_t place = 0;                 // among ranks of equal mpi_ns, by mpitrace's text: which it says has less
    std::optional<std::uint16_t> in_call{};  // index into Job::calls: inside it at the last update
    std::uint64_t in_call_ns = 0;            // for so long; this time is not in mpi_ns yet

    // The run without the time in which recording was paused: what shares are shares of.
    std::uint64_t recorded_ns() const { return elapsed_ns > paused_ns ? elapsed_ns - paused_ns : 0; }
    // Time in MPI, and outside, where the main thread computes. Several threads in MPI at once may exceed it all.
    std::uint64_t inside_ns() const { return mpi_ns + in_call_ns; }
    std::uint64_t outside_ns() const { return recorded_ns() > inside_ns() ? recorded_ns() - inside_ns() : 0; }
};

// A communicator, as all its members know it.
struct Group {
    std::uint64_t id = 0;  // 0 = not known
    std::uint32_t size = 0;
    std::string name;
    bool is_world = false;
    bool is_inter = false;
};

// Where one thread of a rank stands, or stood when the rank ended: inside a call, or outside MPI since its last one.
// One for each thread that is inside a call, else one for the main thread; none of ranks that are finalized.
struct Standing {
    std::uint32_t rank = 0;
    ThreadKind thread = ThreadKind::main;
    bool is_inside = false;
    std::uint32_t os_thread = 0;
    std::optional<std::uint16_t> call;  // index into Job::calls: the one it is in, or was in last
    std::uint32_t group = 0;            // index into Job::groups: the communicator that call was given
    std::uint32_t place = 0;            // index into Job::places: where it was called
    std::uint64_t since_ns = 0;         // it was entered so long after MPI_Init; 0 = not known
    std::uint64_t for_ns = 0;           // so long before now, or before the rank's last sign of life
    std::int32_t root = any_rank;       // of a call that has one
    // What it cannot end without, as far as is known: its own messages, or those of the requests that it was given.
    std::vector<Message> waits_for{};
    bool waits_for_more = false;    // and others
    std::vector<Message> posted{};  // what other requests of its that are open stand for
    bool is_only_thread = false;    // that ever called MPI
};

// How often a rank that is not finalized has entered a call that all members of a communicator have to enter; of the
// call `none` 0 times, so that it is known to be a member.
struct Entries {
    static constexpr std::uint16_t none = 0xffff;
    std::uint32_t group = 0;  // index into Job::groups
    std::uint32_t rank = 0;
    std::uint16_t call = none;  // index into Job::calls
    std::uint64_t entered = 0;
};

// Another launch whose profiles lie beside this one's.
struct OtherLaunch {
    unsigned number = 0;  // what --launch takes
    std::string launch;
    std::string job;
    std::string command;
    std::uint64_t started_at_ns = 0;
    std::uint32_t files = 0;
    std::uint32_t size = 0;
};

struct Job : RunFacts {
    // Compiled once, in job.cpp. No job is copied.
    Job();
    Job(Job&&) noexcept;
    Job& operator=(Job&&) noexcept;
    ~Job();

    std::uint32_t size = 0;             // of MPI_COMM_WORLD
    std::optional<bool> is_cuda_aware;  // as MPI says of itself, on all ranks alike
    unsigned launch_number = 1;
    bool is_partial_on_purpose = false;  // FILEs were named: missing ranks are no fault
    NumberList chosen_ranks;             // MPIPROF_RANKS: the others were not profiled; empty: all were

    std::vector<Call> calls;                   // sorted by name
    std::vector<Row> rows;                     // sorted by call, bin, buffer; counted calls too (bin 0, no time)
    std::vector<std::uint64_t> octave_counts;  // of calls_by_octave()
    std::vector<Rank> ranks;                   // sorted by rank; ranks without a profile are absent
    std::vector<RegionRow> regions;            // parents before what is inside them; the first is the whole run
    std::vector<std::string> hosts;
    std::vector<std::string> nodes;
    std::vector<Standing> standings;          // sorted by rank
    std::vector<Entries> entries;             // sorted by group, call, rank
    std::vector<Membership> memberships;      // sorted by group, rank
    std::vector<Made> made;                   // sorted by rank
    std::vector<EnqueuedWith> enqueued_with;  // sorted by group, rank, peer
    std::vector<Orders> orders;               // MPI_COMM_WORLD first
    std::vector<OppositeOrder> opposite_orders;
    std::vector<LeftOver> left_over;  // requests first, the most first
    Comparison comparison;
    Pace pace;
    std::vector<Group> groups;             // [0] = not known
    std::vector<Place> places;             // [0] = not known
    std::vector<Module> modules;           // [0] = not known
    std::vector<Comm> comms;               // MPI_COMM_WORLD first, then by their lowest rank
    std::vector<RankActivity> activities;  // sorted by rank; of every activity_stride-th rank
    std::uint32_t activity_stride = 1;
    Peers peers;
    CallSites sites;
    GpuJob gpu;
    Placement placement;
    std::vector<NcclChoice> nccl_choices;  // sorted by call, bin, size of the communicator
    std::vector<SettingRow> settings;      // by name
    std::vector<SettingRow> labels;        // by key: what user and program say of the run
    Drops drops;                           // summed over ranks
    std::uint64_t setup_ns = 0;            // largest
    bool is_text = false;                  // some rank is mpitrace's text: its times are rounded to ms
    std::vector<std::string> problems;     // damaged, duplicate, foreign files: one line each
    std::vector<JobNote> notes;
    // Kernels of other libraries move data between GPUs: shares of communication are so large at least.
    bool communicates_unseen() const {
        return std::any_of(notes.begin(), notes.end(),
                           [](const JobNote& note) { return note.kind == JobNote::Kind::moves_unseen; });
    }
    std::vector<OtherLaunch> other_launches;

    // The cells of one rank, sorted by call, bin, buffer. Empty unless they were asked for when merging.
    std::span<const Sum> cells(std::uint32_t rank) const;
    std::unordered_map<std::uint32_t, std::vector<Sum>> kept_cells;
    // The same of places: those of all ranks that were asked for, together.
    std::optional<CallSites> kept_sites;

    // Null: not among `ranks`.
    // [i]: calls of the row that took from 2^i to 2^(i+1) ns, up to the last that is not 0; empty: not known.
    std::span<const std::uint64_t> calls_by_octave(const Row& row) const {
        return std::span(octave_counts).subspan(row.first_octave, row.octaves);
    }

    const Rank* find(std::uint32_t rank) const { return find_rank(ranks, rank); }
    Rank* find(std::uint32_t rank) { return find_rank(ranks, rank); }
    // mpitrace's text may have no host of a rank, or no line of it at all. Nothing is said of where those ran.
    std::uint32_t named_nodes() const;
    std::uint32_t ranks_on_named_nodes() const;
    // Whether no message can have crossed a network: every rank is known, and runs on the same node.
    bool is_of_one_node() const { return nodes.size() == 1 && ranks.size() == size; }
    // Whether there are times of every rank, though perhaps no profile: what compares ranks speaks of the job.
    bool knows_all_ranks() const { return !is_text || ranks.size() == size; }
    // The ranks that should have a profile of their own and have none. As ranges: a damaged file may speak of a world
    // of billions.
    std::vector<NumberList::Range> missing() const;
    std::uint32_t profiles() const;  // ranks that have a profile of their own
    std::uint32_t expected() const;  // ranks that should have one: of the world, those that MPIPROF_RANKS or FILEs name
    NumberList expected_within(NumberList::Range bounds) const;
    bool lacks_ranks() const { return profiles() < expected(); }
    bool is_without_mpi() const { return mpi_family == "none"; }
    // Neither MPI nor NCCL ever began: a program that marks its parts, for others to be compared with.
    bool is_serial() const { return is_without_mpi() && mpi_library.empty() && !has(Family::nccl); }
    // Whether calls of this library are in it.
    bool has(Family family) const;
};

}  // namespace mpiprof::report
