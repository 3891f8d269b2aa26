// Profile: what one rank's file says, as plain values in nanoseconds and bytes, every index checked.
// read/ makes it (from a profile file or from mpitrace's text), merge/ adds it to a Job, exports write it out.
// It knows neither offsets nor ticks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/model/activity.h"
#include "report/model/gpu.h"
#include "report/model/hanging.h"
#include "report/model/left_over.h"
#include "report/model/nccl_operation.h"
#include "report/model/network.h"
#include "report/model/peers.h"
#include "report/model/trace.h"
#include "report/model/usage.h"
#include "report/model/words.h"

namespace mpiprof::report {

class GivenNames;

// A function of MPI or NCCL, from the file's own dictionary.
struct Call {
    std::string name;
    Family family = Family::mpi;
    Treatment treatment = Treatment::timed;
    Traffic traffic = Traffic::none;
    BusRule bus = BusRule::none;
    bool is_sampled = false;  // asked in loops (Test, Iprobe): a part of its calls was timed and stands for all
    // What it is given; false where the file does not say.
    bool sends = false, receives = false;
    bool has_root = false;
    bool has_requests = false;     // that it completes
    bool is_ordered = false;       // all members of its communicator make such calls in one order
    bool is_posted = false;        // it leaves a request behind
    std::uint64_t order_word = 0;  // what a call that is ordered adds to Membership::order, its root besides
    // With more than 0 bytes, or with none to move at all (Barrier), it returns after all members, or the root, have
    // entered it.
    bool waits_for_all = false, waits_for_root = false, root_waits = false;
};

// One (call, size bin, buffer, communicator, region, site) of one thread.
struct Cell {
    std::uint16_t call = 0;  // index into Profile::calls
    std::uint8_t bin = 0;
    Buffer buffer = Buffer::host;
    std::uint16_t communicator = 0;  // index into Profile::communicators; 0 = not told apart
    std::uint16_t region = 0;
    std::uint32_t site = 0;    // index into Profile::sites; 0 = not told apart
    std::uint32_t thread = 0;  // index into Profile::threads
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t time_ns = 0;
    std::optional<std::uint64_t>
        min_ns{};  // of one call; empty while calls == 0, and where not known (mpitrace's text)
    std::uint64_t max_ns = 0;
    std::uint64_t errors = 0;  // calls that returned an error: in none of the above
    bool is_untimed = false;   // its calls were told of by NCCL itself: they have no time
};

// How many calls took how long: one (call, size bin) of one thread.
struct Bucket {
    double low_ns;
    double high_ns;
    std::uint64_t calls;
};
struct Histogram {
    std::uint16_t call = 0;
    std::uint8_t bin = 0;
    std::uint32_t thread = 0;
    std::uint32_t first_bucket = 0;  // into Profile::buckets; ascending, empty ones left out
    std::uint32_t buckets = 0;
    // Of the requests that this call posted at this size, those that were seen to complete.
    std::uint64_t requests = 0;
    std::uint64_t in_flight_ns = 0;  // from posting to the end of the completing call, added up
    std::uint64_t blocked_ns = 0;    // their shares of the time inside the Wait and Test that completed them
    std::uint64_t inside_ns = 0;     // the whole of that, for each: what remains in flight was overlapped
};

// A named part of the program, or the marks of its iterations.
struct Region {
    std::string name;
    std::uint32_t parent = 0;  // index into Profile::regions; 0 = outside all
    bool is_iteration = false;
    std::uint64_t entered = 0;  // and left again
    std::uint64_t time_ns = 0;  // inner regions included; also the time since it was entered last, if it is open
    std::uint64_t min_ns = 0;
    std::uint64_t max_ns = 0;
    std::uint64_t items = 0;         // what the program said its iterations handled
    std::uint32_t first_bucket = 0;  // into Profile::buckets: the durations of each time
    std::uint32_t buckets = 0;
    // Of marks of iterations: every stride-th of them by itself, in Profile::iteration_us. 0: not known.
    std::uint32_t first_single = 0;
    std::uint32_t singles = 0;
    std::uint32_t stride = 1;
};

// A return address.
struct Frame {
    std::uint64_t offset = 0;  // in the module's file; the address itself where that is not known
    std::uint32_t module = 0;  // index into Profile::modules; 0 = unknown
};

// A request that a thread posted or set up and that is not completed.
struct OpenRequest {
    std::uint64_t handle = 0;
    std::uint16_t call = 0;  // index into Profile::calls: who posted it or set it up
    bool is_started = true;
    Frame called_from{};
    std::int32_t peer = any_rank, tag = any_tag;
    std::uint16_t communicator = 0;
};

// What was left over at MPI_Finalize, by the call that made it and the place that it returns to.
struct ProfileLeftOver {
    LeftOverKind kind{};
    std::uint16_t call = 0;  // index into Profile::calls
    Frame made_at{};
    std::uint64_t count = 0;
};

struct Thread {
    ThreadKind kind = ThreadKind::main;
    std::uint32_t os_thread = 0;
    std::uint32_t owners = 0;
    std::optional<std::uint16_t> in_call;    // index into Profile::calls: inside it at the last update
    std::optional<std::uint16_t> last_call;  // outside MPI: the call it was in last, where known
    std::uint64_t in_call_since_ns = 0;      // that call began so long after MPI_Init; 0 = not known
    Frame called_from;                       // where that call returns to; of a script's, its line
    std::uint32_t script_site = 0;           // index into Profile::sites of a script's, else 0
    std::uint16_t in_communicator = 0;  // index into Profile::communicators: what the present or last call was given
    std::uint64_t nested = 0;
    // What the present call was given, as Call says; ranks are of that communicator, or any_rank, no_rank.
    std::int32_t peer = any_rank, tag = any_tag;  // or the root
    std::int32_t source = any_rank, source_tag = any_tag;
    std::uint64_t only_request = 0;  // 0: it was given several, or none
    std::uint32_t requests = 0;      // how many; 0: none that this thread posted
    std::vector<OpenRequest> open_requests{};
};

enum class Origin : std::uint8_t { unknown, world, self, made };

// As this rank sees it. The id is the same on all its members; 0 = not known.
struct Communicator {
    std::uint64_t id = 0;
    std::uint64_t parent = 0;
    std::uint32_t size = 0;
    std::uint32_t rank = 0;
    bool is_inter = false;
    bool is_id_ambiguous = false;  // others with the same members have the same id
    Origin origin = Origin::unknown;
    std::optional<std::uint16_t> made_by;  // index into Profile::calls
    std::string name;
    bool is_unused = false;         // no call on it was recorded
    std::uint64_t collectives = 0;  // see Membership
    std::uint64_t order = 0;
};

// A collective of one communicator that every member keeps with its times.
struct KeptCall {
    std::uint64_t number = 0;   // so many calls of the communicator came before it
    std::int64_t begin_ns = 0;  // on the clock that all processes of the node share
    std::uint64_t time_ns = 0;
    std::uint16_t call = 0;  // index into Profile::calls
    std::uint8_t bin = 0;
    Buffer buffer = Buffer::host;
    std::uint32_t site = 0;  // index into Profile::sites; 0 = not told apart
    std::int32_t root = 0;   // of a call that has one: the rank in the communicator
    Given given{};           // of one that NCCL has enqueued
};
struct KeptCalls {
    std::uint16_t communicator = 0;  // index into Profile::communicators
    std::vector<KeptCall> calls;     // by number
};

// Messages enqueued on a communicator of NCCL's, to or from one of its ranks. Of the last one: how many collectives of
// the communicator had been enqueued before it, and where (index into Profile::sites; 0 = not known).
struct EnqueuedFlow {
    std::uint64_t messages = 0, after = 0;
    std::uint32_t site = 0;
};
struct EnqueuedPeer {
    std::uint16_t communicator = 0;  // index into Profile::communicators
    std::uint32_t peer = 0;          // rank in it
    EnqueuedFlow sent{}, received{};
};

struct Site {
    std::vector<Frame> frames;  // innermost first
    std::size_t common = 0;     // so many of them are those of all its calls, the others of the first one alone
};
struct Module {
    std::string path;
    // Hexadecimal; of a script: the name of the function, which tells modules of a file apart, too.
    std::string build_id;
    bool is_script = false;  // `path` is a source file, and offsets are lines
    // Of one: it comes with Python or is installed beside it. The lines of a program that uses it say more.
    bool is_of_a_package = false;
    // What tells whether a file of this name that has no build-id may be the one that ran.
    std::uint64_t run_began_ns = 0;  // the first process of the run, on the wall clock; 0 = not known
    bool ran_here = false;           // on this machine
    // Set: what its places are called stands there, and nowhere else: no file is opened for it.
    std::shared_ptr<const GivenNames> names{};

    // What another process of the run says of the same.
    void take_run(const Module& other) {
        if (run_began_ns == 0 || (other.run_began_ns != 0 && other.run_began_ns < run_began_ns))
            run_began_ns = other.run_began_ns;
        ran_here |= other.ran_here;
    }
};

// Of the frames of a site the one that a reader looks for: the innermost that is not in an installed package of a
// script's; the innermost of all where all are. An index into `frames`, which has one at least.
template <class Frames>
std::size_t own_frame(const Frames& frames, const std::vector<Module>& modules) {
    for (std::size_t i = 0; i < frames.size(); ++i)
        if (frames[i].module >= modules.size() || !modules[frames[i].module].is_of_a_package) return i;
    return 0;
}

struct Setting {
    std::string name;
    std::string value;
    SettingSource source = SettingSource::fallback;
    auto operator<=>(const Setting&) const = default;
};

// Something that the profile says of the process, its node or its environment: "cpus_allowed", "0-3".
enum class FactKind : std::uint8_t { process = 1, node = 2, environment = 3 };
struct Fact {
    FactKind kind = FactKind::process;
    std::string name;
    std::string value;
};

// What was measured of a clock against that of rank 0, once.
struct ClockOffset {
    std::int64_t at_ns = 0;      // when, on the clock of the node
    std::int64_t offset_ns = 0;  // to be added
    std::uint64_t error_ns = 0;  // so wrong at most
};

// What the recorder could not keep apart or keep at all: a count of each row of drops.def.
struct Drops {
#define DROP(name, gravity, things, text, sum) std::uint64_t name = 0;
#include "report/model/drops.def"
#undef DROP

    bool operator==(const Drops&) const = default;
};

// Each of them, in that order.
struct DropRow {
    std::string_view key;  // in data
    std::uint64_t Drops::*count;
    bool is_serious;
};
inline constexpr auto drop_rows = [] {
    constexpr bool serious = true, minor = false;
    return std::to_array<DropRow>({
#define DROP(name, gravity, things, text, sum) {#name, &Drops::name, gravity},
#include "report/model/drops.def"
#undef DROP
    });
}();

// A line of the rank table at the end of mpitrace's text: what one rank's file says of another rank.
struct RankLine {
    std::uint32_t rank = 0;
    std::string host;
    std::uint64_t mpi_ns = 0;
    std::uint64_t elapsed_ns = 0;
    Usage usage;
    std::optional<std::int32_t> cpu;  // the processor it ran on; only in the newer layout
    std::uint32_t place = 0;          // among ranks of equal mpi_ns, as the text claims it
};

// What all ranks of a launch mostly say alike: of a job it is what the lowest rank says.
struct RunFacts {
    std::string launch;           // equal on all ranks of one mpirun, srun step, torchrun
    std::string job;              // as people call it
    std::string job_ids;          // as the scheduler spells it, blanks between; empty: there is none, or not known
    std::string library_version;  // of libmpiprof
    std::string mpi_library;
    std::string mpi_family;  // "Open MPI", "MPICH", ...; empty = not known
    std::string command;
    std::string executable;
    std::string directory;
    std::string launcher;
    std::uint32_t thread_level = 0;  // 0 single .. 3 multiple
};

// What a job keeps of each of its ranks as the rank says it.
struct RankFacts {
    std::uint32_t rank = 0;
    std::uint32_t pid = 0;
    bool is_text = false;  // read from mpitrace's text: times are rounded to ms, no min, max or threads
    State state = State::finalized;
    int exit_code = 0;
    Life life = Life::ended;           // State::running only
    bool is_end_estimated = false;     // killed: elapsed_ns and updated_at_ns are what is known at least
    bool tells_its_life = false;       // it was updated while the program ran: the last update is its last sign of life
    bool is_in_finalize = false;       // MPI_Finalize was entered and has not returned
    bool is_begun_by_another = false;  // than the main thread: `usage.ran_ns` and `waited_ns` are that thread's
    bool is_written = false;           // the written store: what came after the last update is lost if it was killed
    std::uint64_t store_period_ns = 0;

    std::uint64_t started_at_ns = 0;  // wall clock (since 1970) after MPI_Init; 0 = not known
    std::uint64_t updated_at_ns = 0;  // wall clock of the last sign of life
    std::uint64_t elapsed_ns = 0;   // from the end of MPI_Init to the beginning of MPI_Finalize (or that sign of life)
    std::uint64_t process_ns = 0;   // from the start of the process to the same moment; 0 = not known
    std::uint64_t init_ns = 0;      // inside MPI_Init
    std::uint64_t finalize_ns = 0;  // inside MPI_Finalize; 0 = not known
    std::uint64_t paused_ns = 0;    // recording was off by MPI_Pcontrol
    std::uint64_t setup_ns = 0;     // libmpiprof's own work at start and end
    double own_call_ns = 0;         // and in each timed call, besides what is booked; 0 = not known
    Usage usage;
};

struct Profile : RunFacts, RankFacts {
    // Compiled once, in profile.cpp. No profile is copied.
    Profile();
    Profile(Profile&&) noexcept;
    Profile& operator=(Profile&&) noexcept;
    ~Profile();

    std::string path;
    std::uint32_t size = 1;  // of MPI_COMM_WORLD
    std::uint64_t parent_pid = 0;
    std::string node, host;  // the machine's identity, and its label
    std::optional<std::uint32_t> local_rank;
    bool is_spawned = false;  // by MPI_Comm_spawn
    bool has_several_mpis = false;
    bool is_behind_a_tool = false;           // another tool's functions come first
    bool has_no_world = false;               // sessions only
    std::uint64_t started_monotonic_ns = 0;  // started_at_ns on the clock that all processes of a node share
    Drops drops;
    Usage usage_at_start;             // after MPI_Init; all 0 = not known
    std::uint64_t usage_span_ns = 0;  // from there to `usage`
    std::uint64_t memory_limit = 0;   // of its cgroup, bytes; 0 = none or not known
    std::uint64_t throttled_ns = 0;   // its cgroup was kept from the processors, since MPI_Init
    AllowedUse allowed;

    std::vector<Call> calls;
    std::vector<Cell> cells;  // counted calls too: one cell each and thread, bin 0, no time
    std::vector<Thread> threads;
    std::vector<Histogram> histograms;
    std::vector<Bucket> buckets;
    // Of a histogram, a region, a time on the GPU.
    std::span<const Bucket> buckets_of(const auto& counted) const {
        return std::span(buckets).subspan(counted.first_bucket, counted.buckets);
    }
    std::vector<Communicator> communicators;
    std::vector<ProfileLeftOver> left_over;  // of ranks that reached MPI_Finalize
    std::vector<KeptCalls> kept_calls;
    std::vector<KeptCalls> enqueued;  // the newest on communicators of NCCL's, without times; begin_ns 0: not known
    std::vector<EnqueuedPeer> enqueued_peers;
    Activity activity;                // when it was inside MPI
    Activity pauses;                  // when recording was off
    std::vector<ThreadTrace> traces;  // only where they were asked for
    std::vector<Peer> peers;          // over its threads; sorted by rank, kind
    VaguePeers vague_peers;
    std::vector<std::uint32_t> iteration_us;
    std::vector<Region> regions;  // [0] is "outside all"; empty where the program named none
    std::vector<Site> sites;
    std::vector<Module> modules;
    // Where calls of a site were made, in one line. Null: not known.
    const Frame* line_of(std::uint32_t site) const {
        if (site >= sites.size() || sites[site].frames.empty()) return nullptr;
        return &sites[site].frames[own_frame(sites[site].frames, modules)];
    }
    std::vector<Setting> settings;
    std::vector<Setting> labels;  // by key, each once; their source means nothing
    std::vector<Fact> facts;
    std::optional<ClockOffset> clock_at_start, clock_at_end;
    bool has_peer_memory = false;  // network cards reach the memory of its node's GPUs
    std::vector<NodeCounter> node_counters;
    std::optional<RankNetwork> network;  // empty: nobody looked
    Gpu gpu;
    std::vector<NcclOperation> nccl_operations;
    std::vector<RankLine> rank_table;  // only in mpitrace's text; sorted by rank
    std::vector<std::string> notes;    // oddities that were passed over, one line each
};

}  // namespace mpiprof::report
