// What a profile file is: the plain structs that lie in it, drawn in docs/file-format.md.
// The recorder writes these records in place (the image in memory is the file), the reporter's read/
// checks and reads them. Little-endian, fixed-size records, every offset asserted below.
//
// Rules of change: a field is only ever appended to its record (older readers read the known prefix,
// newer readers zero-fill a shorter record); a TableType is never used again; format_major changes only
// when the meaning of an existing field does. This header includes nothing of ours.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mpiprof::format {

// The first line of every profile, so that `head -1 file` says what it is.
inline constexpr char first_line[] = "mpiprof profile, format 1. Read it with: mpiprof-report <this file>\n";
inline constexpr std::uint64_t byte_order_mark = 0x0102030405060708;
inline constexpr std::uint16_t format_major = 1;
inline constexpr std::uint16_t format_minor = 0;
inline constexpr std::uint32_t segment_bytes = 64 * 1024;  // the file grows by this much

enum class State : std::uint32_t {
    running = 1,    // also what kill -9 leaves behind
    finalized = 2,  // MPI_Finalize was entered: the numbers are final, but those of NCCL if it is used afterwards
    aborted = 3,    // MPI_Abort was called by this rank
    exited = 4,     // the process ended by exit() or _exit() without MPI_Finalize
};

enum class TableType : std::uint32_t {
    none = 0,
    calls = 1,              // CallRecord: the dictionary, one record for each call that was made
    counters = 2,           // Counter: counted calls, indexed by CallRecord::counter, one table per thread
    cells = 3,              // Cell, one or more tables per thread
    histograms = 4,         // Histogram, per thread
    histogram_blocks = 5,   // HistogramBlock, per thread
    sites = 6,              // Site
    frames = 7,             // Frame
    modules = 8,            // Module
    communicators = 9,      // Communicator
    threads = 10,           // Thread
    strings = 11,           // bytes; referred to by file offset and length
    settings = 12,          // Setting: what was in force
    peers = 13,             // Peer, per thread
    regions = 14,           // Region
    activity = 15,          // Activity, one per thread
    trace = 21,             // TraceEvent, per thread; the first record is a TraceHead
    facts = 19,             // Fact: where the process ran, and the settings of others
    nccl_operations = 18,   // NcclOperation: algorithm and protocol, as NCCL told them
    region_durations = 20,  // Histogram: of the durations of regions and iterations
    gpu_times = 23,         // GpuTime: how long the GPU was at the calls of NCCL
    gpu_durations = 24,     // Histogram: of these times, in nanoseconds
    gpu_sequences = 25,     // GpuSequence, one per communicator
    gpu_work = 26,          // GpuWork: all that the GPU did
    node_counters = 27,     // NodeCounter: energy and links of the node, by one of its ranks
    pauses = 28,            // Activity, one of the process: when recording was off
    labels = 29,            // Label: what the user or the program says of the run
    iterations = 30,        // Iterations: how long iterations took, each by itself
    requests = 31,          // Request, per thread: those that are open
    arrivals = 32,          // Arrival, one table for each communicator that has them
    enqueued = 33,          // EnqueuedCollective, one table for each communicator of NCCL's that has them
    types = 34,             // LiveType: datatypes that the program has made and not freed
    enqueued_peers = 35,    // EnqueuedPeer, one table for each communicator of NCCL's that has them
    network_use = 36,       // NetworkUse, one of the process: how it reached other nodes
    // Reserved (docs/file-format.md has a paragraph for each); nothing writes them yet.
    completions = 16,
    exact_sizes = 17,
    barriers = 22,
};

enum class Family : std::uint8_t { mpi = 1, nccl = 2, cuda = 3 };

enum class Treatment : std::uint8_t {
    timed = 1,    // may wait or move data: two clock reads, a cell
    counted = 2,  // a local query: one counter, no clock
    passed = 3,   // not exported at all; listed in docs/coverage.md with the reason
    polled = 4,   // a question asked in loops (Test, Iprobe): counted, and every 16th is timed for all 16
};

// What kind of traffic the bytes of a call are. The reporter groups by it and knows no call by name.
enum class Traffic : std::uint8_t {
    none = 0,        // queries and object management
    send = 1,        // point-to-point, this rank sends
    receive = 2,     // point-to-point, this rank receives
    exchange = 3,    // Sendrecv: both
    collective = 4,  // data moves among all members
    one_sided = 5,   // RMA
    file = 6,        // MPI-IO, opening and closing included: never added to message bytes
    completion = 7,  // Wait*, Test*, Start: no bytes of its own
    probe = 8,
    sync = 9,    // Barrier, Win_fence: waits, moves nothing
    setup = 10,  // communicator, window and process management that may wait
    local = 11,  // moves bytes within the process (Pack, Unpack)
    start = 12,  // begins persistent operations: the bytes are those of what was set up
};

// True where bytes are messages to other ranks.
constexpr bool carries_messages(Traffic traffic) {
    return (traffic >= Traffic::send && traffic <= Traffic::one_sided) || traffic == Traffic::start;
}

// How the message size of a call is defined; docs/coverage.md words each.
enum class SizeRule : std::uint8_t {
    none = 0,
    count_type = 1,              // count x type size
    received = 2,                // what arrived by the status, else the posted count x type size
    rblock = 3,                  // receive count x receive type size: one block
    rblock_mine = 4,             // rcounts[this rank] x receive type size
    gather = 5,                  // at the root its receive block, elsewhere the block sent
    gatherv = 6,                 // at the root rcounts[root], elsewhere the block sent
    scatter = 7,                 // at the root one block sent, elsewhere the block received
    scatterv = 8,                // at the root scounts[root], elsewhere the block received
    alltoallv = 9,               // mean of scounts x send type size
    alltoallw = 10,              // mean of scounts[i] x size of stypes[i]
    rcounts_sum = 11,            // sum of rcounts x type size
    rcount_times_size = 12,      // rcount x type size x communicator size
    sendrecv = 13,               // sent + received; a PROC_NULL side counts 0
    sendrecv_replace = 14,       // the same with one buffer
    one_element = 15,            // 1 x type size
    partitioned = 16,            // partitions x count x type size
    neighbor_rcounts_mean = 17,  // mean of rcounts over the incoming neighbours x receive type size
    neighbor_alltoallv = 18,     // mean of scounts over the outgoing neighbours x send type size
    neighbor_alltoallw = 19,     // mean of scounts[i] x size of stypes[i] over the outgoing neighbours
    started = 20,                // sum over the started persistent requests of what each was set up with
    count_times_size = 21,       // count x type size x communicator size
    scounts_sum = 22,            // sum of scounts x type size
};

// How the bytes of a call follow from its size on the busiest link, by nccl-tests' definitions of bus bandwidth. n: the
// ranks of its communicator.
enum class BusRule : std::uint8_t {
    none = 0,          // it has none
    whole = 1,         // the size
    twice_around = 2,  // 2 (n-1)/n of the size
    all_but_mine = 3,  // (n-1)/n of the size, which is n blocks
    other_blocks = 4,  // n-1 times the size, which is one block
};

enum class BufferKind : std::uint8_t { host = 0, device = 1, managed = 2 };
enum class ClockKind : std::uint32_t { tsc = 1, monotonic = 2, cntvct = 3 };
enum class StoreKind : std::uint32_t { mapped = 1, written = 2 };
enum class MpiFamily : std::uint32_t { unknown = 0, open_mpi = 1, mpich = 2, standard_abi = 3, none = 4 };
enum class ThreadKind : std::uint32_t { main = 1, other = 2 };
enum class PeerKind : std::uint32_t { messages = 0, one_sided = 1 };

// One moment seen on three clocks. tick_rate.h says how ticks are converted by several.
struct Anchor {
    std::uint64_t ticks;
    std::uint64_t monotonic_ns;
    std::uint64_t realtime_ns;
};

struct ResourceUse {  // getrusage(RUSAGE_SELF), at the last update
    std::uint64_t user_us;
    std::uint64_t system_us;
    std::uint64_t max_resident_kib;
    std::uint64_t minor_faults;
    std::uint64_t major_faults;
    std::uint64_t blocks_in;  // 512-byte blocks
    std::uint64_t blocks_out;
    std::uint64_t voluntary_switches;
    std::uint64_t involuntary_switches;
};

// /proc/<pid>/task/*/schedstat since `started`, at the last update; all 0 where the kernel does not keep it. "First" is
// the thread that began MPI; the others' are summed, with those that ended; our helper's is left out.
struct ProcessorTime {
    std::uint64_t first_ran_ns;
    std::uint64_t first_waited_ns;  // was ready to run, and no processor was free for it
    std::uint64_t others_ran_ns;
    std::uint64_t others_waited_ns;
};

// /proc/stat since `started`, of the processors that this process was allowed at that moment, all of them together; all
// 0 = not known. Read last when `span_us` had gone by, which may be half the run where it ended without Finalize.
struct AllowedProcessors {
    std::uint64_t user_us;    // in programs, whoever's: the kernel's part may be for I/O of this very job
    std::uint64_t idle_us;    // nothing to run, or waiting for a disk
    std::uint64_t stolen_us;  // the hypervisor ran other machines meanwhile
    std::uint64_t own_us;     // of user_us, or elsewhere: this process and its descendants
    std::uint64_t span_us;
    std::uint64_t processors;
};

// What could not be kept. Every figure is said in every report when it is not zero.
struct Drops {
    std::uint64_t cells;          // calls booked in their call's "other" cell because the cell table was full
    std::uint64_t sites;          // call sites not told apart (site 0)
    std::uint64_t histograms;     // calls without a histogram entry
    std::uint64_t communicators;  // communicators not told apart (communicator 0)
    std::uint64_t threads;        // calls made by threads that got no ledger (counted nowhere else)
    std::uint64_t backwards;      // calls whose clock ran backwards (booked with 0 ticks)
    std::uint64_t strings;        // strings cut or left out
    std::uint64_t write_errors;
    std::uint64_t requests;  // completed requests whose posting call was not remembered (or by another thread)
};

// Page 0. Text fields are NUL-terminated and zero-filled.
struct Header {
    char first_line[96];
    std::uint64_t byte_order;
    std::uint16_t format_major;
    std::uint16_t format_minor;
    std::uint32_t header_size;
    std::uint64_t directory_offset;  // the first Directory block
    std::uint64_t image_bytes;       // bytes of the image in use; a shorter file is truncated
    State state;
    std::int32_t exit_code;  // MPI_Abort's code; 0 otherwise
    std::uint32_t rank;      // in MPI_COMM_WORLD, or by the launcher where there is no world
    std::uint32_t size;      // of MPI_COMM_WORLD
    std::uint32_t pid;
    StoreKind store;
    std::uint32_t store_period_ms;  // of the written store; 0 = at the end only
    ClockKind clock;
    MpiFamily mpi_family;
    std::uint32_t thread_level;      // 0 single .. 3 multiple, as provided
    std::uint32_t flags;             // HeaderFlags
    std::uint32_t local_rank;        // on this node, by the launcher; no_local_rank where unknown
    Anchor loaded;                   // the first MPI call, before the real MPI_Init
    Anchor started;                  // after the real MPI_Init: "elapsed" begins
    Anchor updated;                  // last update of this header
    Anchor ended;                    // MPI_Finalize entered (or abort, exit): "elapsed" ends; 0 while running
    std::uint64_t process_start_ns;  // REALTIME at which the process began (10 ms resolution); 0 unknown
    std::uint64_t init_ticks;        // inside the real MPI_Init
    std::uint64_t finalize_ticks;    // inside the real MPI_Finalize
    std::uint64_t paused_ticks;      // recording was off by MPI_Pcontrol(0)
    ResourceUse usage;
    Drops drops;
    std::uint64_t own_setup_ns;  // time this library spent outside calls: start and end
    char launch[128];            // identity of the launch, equal on all its ranks
    char job[64];                // as people call it
    char node[128];              // identity of the machine
    char host[64];               // its label
    char library[32];            // version of libmpiprof
    char mpi_library[256];       // MPI_Get_library_version, first line
    char command[1024];          // command line, token-like values masked, NUL between arguments replaced by blanks
    char executable[256];
    char directory[256];                  // working directory at start
    char launcher[32];                    // "Open MPI", "Hydra", "Slurm", ...
    std::uint64_t parent_pid;             // the launcher's local process
    ResourceUse usage_at_start;           // after the real MPI_Init
    std::uint64_t memory_limit;           // bytes, of the cgroup; 0 = none or not known
    std::uint64_t throttled_us_at_start;  // time for which the cgroup was kept from the processors
    std::uint64_t throttled_us;           // the same at the end
    // Of the image: the file's own pages; 0 in the written store. Fewer than image_bytes where the disk was full: the
    // rest was in memory, and is here only if it could be written later.
    std::uint64_t mapped_bytes;
    ProcessorTime processor;
    std::uint64_t own_ticks;  // of this library in calls_of_own_cost timed calls, besides what is booked; 0 not known
    char job_ids[160];        // as the scheduler spells it, blanks between: "4711_3.0 4715.0", "4711[3].sdb"
    AllowedProcessors allowed;
};
inline constexpr unsigned calls_of_own_cost = 16;

enum HeaderFlags : std::uint32_t {
    world_is_spawned = 1,  // this world has a parent (MPI_Comm_spawn)
    several_mpis = 2,      // a second MPI library was met and passed through
    no_world = 4,          // sessions only: rank and size by the launcher
    initialized_by_session = 8,
    behind_a_tool = 16,         // another tool's MPI functions come first: what it calls as PMPI_ is not seen
    another_thread_began = 32,  // MPI, than the process' first: ProcessorTime calls that one the first
};
inline constexpr std::uint32_t no_local_rank = 0xffffffff;
// How Header::launch begins where no launcher names it: what started the process stands behind it.
inline constexpr char launch_by_parent[] = "parent:";

// A directory block is followed by its `capacity` entries. An entry is published by storing `type` last.
struct Directory {
    std::uint64_t next;  // file offset of the next block, 0 = none
    std::uint32_t used;
    std::uint32_t capacity;
};

struct Table {
    TableType type;
    std::uint32_t record_size;
    std::uint64_t offset;
    std::uint32_t used;  // records published so far
    std::uint32_t capacity;
    std::uint32_t thread;        // ThreadRecord::id whose table this is; 0 = the rank's
    std::uint32_t communicator;  // index into `communicators`, of a table of arrivals or of what was enqueued
};

// The dictionary. `call` is the id that cells and thread records refer to; it differs between versions
// of the library, so the name is what counts across files.
struct CallRecord {
    std::uint16_t call;
    Family family;
    Treatment treatment;
    Traffic traffic;
    SizeRule size_rule;
    std::uint16_t counter;  // index into `counters` tables if counted or polled
    char name[40];
    std::uint32_t arguments;  // CallArguments
    BusRule bus;
    std::uint8_t reserved[3];
};
// What Thread says of a call in hand depends on what the call is given.
enum CallArguments : std::uint32_t {
    has_dest = 1,      // in_call_peer and in_call_tag are whom it sends to
    has_source = 2,    // the same of whom it receives from; of a call with both in_call_source and in_call_source_tag
    has_root = 4,      // in_call_peer is the root
    has_requests = 8,  // it completes requests
    // All members of its communicator make such calls in one order: Communicator::collectives counts them.
    is_ordered = 16,
    is_posted = 32,        // it returns at once and leaves a request behind, or NCCL has it enqueued
    waits_for_all = 64,    // with more than 0 bytes it returns after all members have entered it
    waits_for_root = 128,  // with more than 0 bytes it returns after the root has entered it
    root_waits = 192,      // both: with more than 0 bytes it returns at the root after all members have entered it
};

struct Counter {
    std::uint64_t calls;  // completed with success
    std::uint64_t errors;
};

// One (call, size bin, buffer, communicator, region, site) of one thread.
struct Cell {
    std::uint16_t call;
    std::uint8_t bin;  // size_bins.h
    BufferKind buffer;
    std::uint16_t communicator;  // index into `communicators`; 0 = not told apart
    std::uint16_t region;
    std::uint32_t site;       // index into `sites`; 0 = not told apart
    std::uint32_t histogram;  // file offset / 8 of its Histogram; 0 = none
    std::uint64_t calls;      // completed with success
    std::uint64_t bytes;
    std::uint64_t ticks;
    std::uint64_t min_ticks;  // all ones while calls == 0
    std::uint64_t max_ticks;
    std::uint64_t errors;  // calls that returned an error: neither in calls, bytes nor ticks
};

// Call durations, log-linear: octave o >= 1 holds ticks in [2^(o+3), 2^(o+4)) in 16 equal sub-buckets,
// octave 0 holds 0..15 exactly. A block is claimed when the first duration of its octave arrives.
inline constexpr unsigned histogram_sub_bits = 4;
inline constexpr unsigned histogram_sub_buckets = 1u << histogram_sub_bits;
inline constexpr unsigned histogram_octaves = 61;
struct Histogram {
    std::uint16_t call;
    std::uint8_t bin;
    std::uint8_t reserved0;
    std::uint32_t reserved1;
    std::uint32_t block[histogram_octaves];  // file offset / 8 of the octave's HistogramBlock; 0 = not claimed
    std::uint32_t reserved2;
    // Of the requests that this call posted at this size, those whose completion this thread saw; for Wait and Test
    // themselves `completed` alone: the requests that they completed.
    std::uint64_t completed;
    std::uint64_t in_flight_ticks;  // sum of times from the posting call's begin to the end of the completing call
    std::uint64_t blocked_ticks;    // sum of their shares of the time inside Wait and Test
    std::uint64_t inside_ticks;     // the whole of those calls, for each request: in flight - inside was overlapped
};
struct HistogramBlock {
    std::uint64_t count[histogram_sub_buckets];
};

// A named part of the program. Index 0 of its table is "outside all"; Cell::region is such an index.
struct Region {
    char name[64];
    std::uint32_t parent;     // index into `regions`
    std::uint32_t flags;      // 1 = marks of iterations: its ticks are from mark to mark
    std::uint64_t entered;    // and left; one that is still open is not counted yet
    std::uint64_t ticks;      // inclusive of the regions inside it
    std::uint64_t min_ticks;  // all ones while entered == 0
    std::uint64_t max_ticks;
    std::uint64_t items;         // examples, cells ...: what the program said of its iterations
    std::uint64_t inside_since;  // ticks at which it was entered last, 0 = not inside now
    std::uint32_t durations;     // file offset / 8 of its Histogram among region_durations; 0 = none
    std::uint32_t reserved;
};
inline constexpr std::uint32_t is_iteration = 1;

// How long the iterations of one region of marks took, each by itself. Number n (from 0 on) lies at us[n / stride] if
// stride divides n. When there is no room every second one is left out and the stride doubles.
inline constexpr unsigned most_iterations = 4096;
struct Iterations {
    std::uint32_t region;   // index into `regions`
    std::uint32_t changes;  // odd: every second one is being left out at this moment, `us` means nothing
    std::uint32_t stride;
    std::uint32_t reserved;
    std::uint64_t marked;  // iterations so far
    std::uint32_t us[most_iterations];
};

// What the user (MPIPROF_LABELS) or the program says of the run. Of several records of one key the last one counts.
struct Label {
    char key[32];
    char value[96];
};

// One thread's communication over time, in bins of 2^log2_width ticks from `origin` on. What its cells hold beyond the
// sum of its bins belongs to the current one, which is added up when it is over. Of `pauses` the same of the header's
// paused_ticks.
inline constexpr unsigned activity_bins = 128;
struct ActivityBin {
    std::uint64_t ticks;  // inside MPI
    std::uint64_t bytes;  // of messages whose calls ended in it
};
struct Activity {
    std::uint64_t origin;  // ticks
    std::uint32_t log2_width;
    std::uint32_t current;  // index into `bins`
    std::uint32_t changes;  // odd: neighbours are being added up at this moment, the bins mean nothing
    std::uint32_t reserved;
    ActivityBin bins[activity_bins];
};

// The last events of a thread, in a ring of the table's other records: event number n lies in record 1 + n % (capacity
// - 1). They follow each other by their ends. `written` counts those that are whole, overwritten ones included.
enum class TraceKind : std::uint8_t {
    none = 0,
    call = 1,
    received = 2,        // what the call before this record received besides (Sendrecv)
    started = 3,         // a persistent request, by the call that follows
    completed = 4,       // a request: `begin` is that of the call that posted or started it
    region_entered = 5,  // `region`
    region_left = 6,
    iteration = 7,  // a mark; `bytes`: the items of the iteration that ends there
};
enum TraceFlags : std::uint8_t {
    trace_failed = 1,      // the call returned an error
    trace_sends = 2,       // `sequence` counts the messages to `peer` with this communicator and tag,
    trace_receives = 4,    // or those from there,
    trace_collective = 8,  // or the collective calls of the communicator: the same number on all its members
};
struct TraceEvent {
    std::uint64_t begin;  // ticks
    std::uint64_t ticks;
    std::uint64_t bytes;
    std::uint32_t peer;      // rank of MPI_COMM_WORLD, or a NoSinglePeer
    std::int32_t tag;        // -1: none, or not known
    std::uint32_t sequence;  // from 1 on, in this thread; 0: none, or not known
    std::uint32_t site;      // index into `sites`
    std::uint16_t call;
    std::uint16_t communicator;  // index into `communicators`
    std::uint16_t region;        // index into `regions`
    TraceKind kind;
    std::uint8_t flags;  // TraceFlags
};
struct TraceHead {
    std::uint64_t written;
    std::uint64_t reserved[5];
};

// A call site: `frames` records from `first_frame` on, innermost first. The first (flags & 15) of them are those of
// every call of the site, the others those of its first call.
struct Site {
    std::uint32_t first_frame;
    std::uint16_t frames;
    std::uint16_t flags;
};
struct Frame {
    std::uint64_t offset;  // return address - module's load bias; the call is at offset - 1
    std::uint32_t module;  // index into `modules`; 0 = unknown (offset is then absolute)
    std::uint32_t reserved;
};
enum class Language : std::uint32_t { machine = 0, python = 1 };

struct Module {
    std::uint64_t base;         // load bias in this process
    std::uint64_t end;          // end of the mapped range
    std::uint64_t path_offset;  // into the file
    std::uint32_t path_length;
    std::uint32_t build_id_length;
    std::uint8_t build_id[32];
    // Of a script: the name of its function, into the file; `offset` of its frames is a line.
    std::uint64_t function_offset;
    std::uint32_t function_length;
    Language language;
};

struct Communicator {
    std::uint64_t id;  // agreed by all members without communication; 0 = not known
    std::uint64_t parent;
    std::uint32_t size;     // of the group this rank talks to
    std::uint32_t rank;     // of this rank in it
    std::uint16_t how;      // Origin
    std::uint16_t flags;    // CommunicatorFlags
    std::uint16_t made_by;  // CallRecord::call, if it was made
    std::uint16_t reserved0;
    std::uint64_t handle;  // as C passes it, and as Fortran does: what Thread::in_call_communicator is one of
    std::uint64_t fortran_handle;
    char name[64];
    // Of the calls that all members make in one order (CallRecord::arguments), those that have returned, whether they
    // were recorded or not; and what order_of() makes of them, the same on all members.
    std::uint64_t collectives;
    std::uint64_t order;
    std::uint64_t next_arrival;  // the number of the next call to be kept among its arrivals; all ones: none is
    std::uint64_t made_from;     // as Request::posted_by, of the call that made it; 0: not known, or it may have ended
};
enum Origin : std::uint16_t { origin_unknown = 0, origin_world = 1, origin_self = 2, origin_made = 3 };
enum CommunicatorFlags : std::uint16_t {
    is_intercommunicator = 1,
    id_by_members = 2,  // others with the same members have the same id
    is_not_used = 4,    // no call on it was recorded yet
};

// One of the calls that Communicator::collectives counts, as this rank made it. Which ones are kept, and where, says
// arrivals.h: number n lies in record n >> level. Those that failed or were not recorded are left out. A rank that was
// killed while its level rose may have some of them twice.
struct Arrival {
    std::uint64_t number_and_call;  // (number + 1) << 16 | call; 0 = none
    std::uint64_t begin;            // ticks
    std::uint64_t ticks_and_kind;   // ticks << 16 | bin << 8 | BufferKind
    std::uint32_t site;             // index into `sites`
    std::int32_t root;              // of a call that has one, as it was passed
};

// One of the newest collectives that this rank enqueued on a communicator of NCCL's: number n of those that
// Communicator::collectives counts lies in record n % enqueued_kept. The one that is next is being written.
struct EnqueuedCollective {
    std::uint64_t when;    // ticks; 0: it was not recorded
    std::uint64_t detail;  // collective_order.h
    std::uint32_t site;    // index into `sites`
    std::int32_t root;     // of a call that has one, as it was passed
    std::uint32_t call;
    std::uint32_t reserved;
};
inline constexpr std::uint64_t enqueued_kept = 256;  // of a communicator

// How many messages this rank has enqueued to and from one rank of a communicator of NCCL's: record n is of its rank n.
struct EnqueuedPeer {
    std::uint64_t sent, received;
    std::uint64_t sent_after, received_after;  // Communicator::collectives when the last of them was enqueued
    std::uint32_t sent_from, received_from;    // the same: index into `sites`; 0: it was not recorded
};

// What one thread exchanged with one rank of MPI_COMM_WORLD, by messages or by one-sided operations. There is a record
// from the first of them on. Of one-sided operations `sent` is what was put there, `received` what was fetched from
// there.
struct Flow {
    std::uint64_t messages;
    std::uint64_t bytes;
    std::uint64_t ticks;  // in the calls that sent or received, or posted it; not in those that waited for it
};
struct Peer {
    std::uint32_t rank;  // or a NoSinglePeer
    PeerKind kind;
    Flow sent;
    Flow received;
    std::uint64_t reserved;
};
enum NoSinglePeer : std::uint32_t {
    peer_any = 0xfffffffd,      // received from MPI_ANY_SOURCE, and no status told from whom
    peer_other = 0xfffffffe,    // those for which there was no record left
    peer_unknown = 0xffffffff,  // no rank of this MPI_COMM_WORLD, or none that could be translated to it
};

struct Thread {
    std::uint32_t id;  // 1, 2, ...; `Table::thread`
    ThreadKind kind;
    std::uint32_t os_thread;  // gettid of the present (or last) owner
    std::uint32_t owners;     // threads that used this ledger one after the other
    std::uint64_t in_call;  // call id << 48 | return address; outside MPI the last one, and has_returned; 0 = none yet
    std::uint64_t in_call_since;  // ticks at which it began
    std::uint64_t nested;         // calls made by MPI inside MPI: forwarded, not recorded
    // Of the present or last call that has them (CallRecord::arguments): ranks and tags as they were passed.
    std::int32_t in_call_peer;
    std::int32_t in_call_tag;
    std::uint64_t in_call_communicator;  // the handle that the present or last call was given; all ones: none
    std::uint32_t script_call;           // lower half of in_call_since if a script made that call,
    std::uint32_t script_site;  // from here (index into `sites`, 0 = not known); else what is left of an earlier call
    std::int32_t in_call_source;
    std::int32_t in_call_source_tag;
    // Of the last call that completes requests: how many it was given, 0 if this thread had posted none; and which, of
    // a call that takes a single one, else 0.
    std::uint64_t in_call_request;
    std::uint32_t in_call_requests;
    // Calls of which nobody knows whether MPI made them inside another: the stack could not be followed. They are
    // booked or nested by what was left of the other's frame.
    std::uint32_t unplaced;
    // Of the main thread: stretches between two calls, and the calls behind them, chosen by chance; for how much of
    // each the thread waited for a processor, and of the first had one.
    std::uint64_t between_calls_ticks;
    std::uint64_t between_calls_waited_ns;
    std::uint64_t between_calls_ran_ns;
    std::uint64_t in_calls_ticks;
    std::uint64_t in_calls_waited_ns;
};
inline constexpr std::uint64_t has_returned = std::uint64_t{1} << 63;

// A request of the thread that posted or set it up, by its handle as the program holds it; 0: the slot is free.
struct Request {
    std::uint64_t handle;
    // As Thread::in_call, of the call that posted it or set it up; not_started. Where a script made that call, an index
    // into `sites` (below first_code) stands in place of the address.
    std::uint64_t posted_by;
    std::int32_t peer;  // as Thread::in_call_peer and so on, of the call that posted it or set it up
    std::int32_t tag;
    std::uint64_t communicator;  // its handle
};
inline constexpr std::uint64_t not_started = std::uint64_t{1} << 63;  // it is persistent, and not in flight
inline constexpr std::uint64_t first_code = 65536;  // no code lies below: the kernel maps nothing there

// A datatype that the program has made; handle 0: the slot is free.
struct LiveType {
    std::uint64_t handle;     // C's
    std::uint64_t made_from;  // as Request::posted_by, of the call that made it
};

// Operations of NCCL by the algorithm, protocol and number of channels that NCCL chose, as it told its profiler
// interface.
struct NcclOperation {
    std::uint16_t call;
    std::uint8_t bin;
    std::uint8_t channels;       // 255: that many or more
    std::uint16_t communicator;  // index into `communicators`; 0 = not told apart
    std::uint16_t flags;         // NcclOperationFlags
    char algorithm[16];          // "RING", "TREE", "NVLS" ...; empty: not told
    char protocol[16];           // "LL", "LL128", "SIMPLE" ...
    std::uint64_t operations;
    std::uint64_t bytes;  // message size, as in the cells
    std::uint64_t tag;    // what the program gave the call (ncclCollConfig_t::userProfilerTag); 0: none
};
inline constexpr std::uint64_t other_tags = ~std::uint64_t{0};  // in place of those beyond the first few
enum NcclOperationFlags : std::uint16_t {
    not_called_through_us =
        1,  // NCCL is linked statically: these are known by its profiler interface alone, and have cells without time
};

// Time on the GPU of the operations of one (call, size bin, communicator), however it was measured. It begins when the
// first kernel does, so it includes waiting on the GPU for the slowest rank.
enum class GpuSource : std::uint8_t {
    none = 0,
    events = 1,  // around the call of NCCL: at most, since the host may launch long after the first event
    cupti = 2,
    launches = 3,  // events around each launch of a kernel, of which NCCL tells
};
struct GpuTime {
    std::uint16_t call;  // of a group whose operations are several: ncclGroupEnd, as it is launched and ends as a whole
    std::uint8_t bin;
    GpuSource source;
    std::uint16_t communicator;
    std::uint16_t flags;      // GpuTimeFlags
    std::uint32_t histogram;  // file offset / 8 of its Histogram among gpu_durations; 0 = none
    std::uint32_t reserved;
    std::uint64_t operations;  // whose time is in here: launches, for ncclGroupEnd
    std::uint64_t bytes;       // of these
    std::uint64_t ns;
    std::uint64_t min_ns;  // all ones while operations == 0
    std::uint64_t max_ns;
    std::uint64_t kernels;  // 0 with events around calls
    // Of an exchange: of `bytes`, what went to other ranks or came from them, whichever is more.
    std::uint64_t others_bytes;
};
enum GpuTimeFlags : std::uint16_t {
    from_graphs = 1,  // of replays of CUDA graphs, each of which is an operation here and no call in the cells
    exchange = 2,     // of groups that send and receive, and do nothing else
    replays = 4,      // operations that replays of CUDA graphs repeated, with their bytes; of no source, without times
};

// How long the last collectives of one communicator were on the GPU, in the order in which they were enqueued. All its
// members enqueue the same ones, so that the n-th of one rank is the n-th of the others.
inline constexpr unsigned gpu_sequence_length = 4096;
struct GpuSequence {
    std::uint16_t communicator;
    GpuSource source;
    std::uint8_t reserved[5];
    std::uint64_t enqueued;                   // collectives so far: number n lies at n % gpu_sequence_length
    std::uint32_t us16[gpu_sequence_length];  // sixteenths of a microsecond; 0 = not measured (yet, or no longer)
};

// What the GPUs did in all while CUPTI told it.
enum class GpuWorkKind : std::uint32_t {
    nccl_kernels = 1,
    other_kernels = 2,
    host_to_device = 3,  // copies
    device_to_host = 4,
    device_to_device = 5,
    peer_to_peer = 6,  // between two GPUs
    other_copies = 7,
    graph_launches = 8,  // of which `count` alone is told
    // Of a device, as intervals that are counted once, however many kernels share them; `count` means nothing.
    recorded = 9,       // from the first kernel to the last; overlapped_ns: of it, while any kernel ran
    nccl_running = 10,  // while any kernel of NCCL ran; overlapped_ns: of it, while another kernel did, too
};
struct GpuWork {
    GpuWorkKind kind;
    std::uint32_t device;
    std::uint64_t count;
    std::uint64_t bytes;
    std::uint64_t ns;
    // Of nccl_kernels: while another kernel ran on that device. ns - overlapped_ns is exposed.
    std::uint64_t overlapped_ns;
    std::uint64_t in_graphs;  // of `count`
};

enum class FactKind : std::uint32_t {
    process = 1,      // of this process: cores it may use ...
    node = 2,         // of the machine; written by the rank whose local_rank is 0, or not known
    environment = 3,  // a variable that MPI, NCCL or a launcher reads
};
struct Fact {
    char name[48];
    FactKind kind;
    std::uint32_t value_length;
    std::uint64_t value_offset;  // into the file
};

// A counter that the node keeps of itself, and so of all that ran on it: how far it went is last - at_start + wraps x
// wraps_at. Events of a network port do not run over: at wraps_at (0 = never) the counter stops, and where `wraps` is
// not 0 it could not be read at last.
enum class NodeCounterUnit : std::uint32_t { microjoules = 1, bytes = 2, events = 3 };
struct NodeCounter {
    char name[48];  // energy.<domain>, link.<device>.tx and .rx, port.<device>/<port>.<counter>
    NodeCounterUnit unit;
    std::uint32_t wraps;
    std::uint64_t wraps_at;  // 0 = never
    std::uint64_t at_start;
    std::uint64_t last;
};

// How the process reached other nodes. Devices and libraries are what any look found; connections are those of the look
// that saw most bytes.
struct NetworkUse {
    std::uint32_t looks;        // 0: nobody looked
    std::uint32_t connections;  // TCP, established, to other hosts
    std::uint64_t libraries;    // that are mapped: bits of network_libraries (format/network.h)
    std::uint32_t verbs;        // device files that were open: bit n is /dev/infiniband/uverbs<n>, 31 all from there on
    std::uint32_t cxi;          // /dev/cxi<n>
    std::uint32_t hfi1;         // /dev/hfi1_<n>
    std::uint32_t shared_memory;  // 1 /dev/knem, 2 /dev/xpmem
    std::uint64_t bytes;          // of all these connections: that the other ends have acknowledged
    std::uint64_t segments;       // sent with data, again included
    std::uint64_t retransmitted;  // of them
    char interfaces[3][16];       // that they leave by; empty: not known
    std::uint64_t ends[16];       // a number for each connection, the same at both ends; the smallest; 0 = none
};

struct Setting {
    char name[32];
    char value[96];
    std::uint32_t source;  // 0 default, 1 environment, 2 the variable of another tool (MPIPROF_COMPAT), 3 the file that
                           // MPIPROF_CONFIG names, 4 /etc/mpiprof.conf
    std::uint32_t reserved;
};

// ---- the offsets that files on disk rely on ----
static_assert(sizeof(Anchor) == 24);
static_assert(sizeof(ResourceUse) == 72);
static_assert(sizeof(Drops) == 72);
static_assert(offsetof(Header, byte_order) == 96);
static_assert(offsetof(Header, directory_offset) == 112);
static_assert(offsetof(Header, state) == 128);
static_assert(offsetof(Header, rank) == 136);
static_assert(offsetof(Header, loaded) == 176);
static_assert(offsetof(Header, process_start_ns) == 272);
static_assert(offsetof(Header, usage) == 304);
static_assert(offsetof(Header, drops) == 376);
static_assert(offsetof(Header, launch) == 456);
static_assert(offsetof(Header, command) == 1128);
static_assert(offsetof(Header, parent_pid) == 2696);
static_assert(offsetof(Header, usage_at_start) == 2704);
static_assert(offsetof(Header, mapped_bytes) == 2800);
static_assert(offsetof(Header, processor) == 2808);
static_assert(sizeof(ProcessorTime) == 32 && offsetof(Header, own_ticks) == 2840);
static_assert(offsetof(Header, job_ids) == 2848);
static_assert(sizeof(AllowedProcessors) == 48 && offsetof(Header, allowed) == 3008 && sizeof(Header) == 3056);
static_assert(sizeof(Directory) == 16);
static_assert(sizeof(Table) == 32 && offsetof(Table, offset) == 8 && offsetof(Table, used) == 16);
static_assert(sizeof(CallRecord) == 56 && offsetof(CallRecord, name) == 8 && offsetof(CallRecord, bus) == 52);
static_assert(sizeof(Cell) == 64 && offsetof(Cell, site) == 8 && offsetof(Cell, calls) == 16 &&
              offsetof(Cell, errors) == 56);
static_assert(sizeof(Histogram) == 288 && offsetof(Histogram, block) == 8 && offsetof(Histogram, completed) == 256);
static_assert(sizeof(HistogramBlock) == 128);
static_assert(sizeof(Region) == 128 && offsetof(Region, entered) == 72);
static_assert(sizeof(Iterations) == 16408 && offsetof(Iterations, us) == 24);
static_assert(sizeof(Label) == 128);
static_assert(sizeof(Site) == 8 && sizeof(Frame) == 16);
static_assert(sizeof(Module) == 80 && offsetof(Module, build_id) == 32 && offsetof(Module, function_offset) == 64);
static_assert(sizeof(Communicator) == 144 && offsetof(Communicator, name) == 48 &&
              offsetof(Communicator, collectives) == 112 && offsetof(Communicator, made_from) == 136);
static_assert(sizeof(Arrival) == 32 && offsetof(Arrival, site) == 24);
static_assert(sizeof(EnqueuedCollective) == 32 && offsetof(EnqueuedCollective, call) == 24);
static_assert(sizeof(EnqueuedPeer) == 40 && offsetof(EnqueuedPeer, sent_from) == 32);
static_assert(sizeof(Counter) == 16);
static_assert(sizeof(Flow) == 24);
static_assert(sizeof(Peer) == 64 && offsetof(Peer, sent) == 8 && offsetof(Peer, received) == 32);
static_assert(sizeof(Thread) == 128 && offsetof(Thread, in_call) == 16 && offsetof(Thread, in_call_communicator) == 48);
static_assert(sizeof(Request) == 32 && offsetof(Request, peer) == 16);
static_assert(sizeof(LiveType) == 16);
// The two halves that a posting call copies at once.
static_assert(offsetof(Thread, in_call_communicator) - offsetof(Thread, in_call_peer) ==
              offsetof(Request, communicator) - offsetof(Request, peer));
static_assert(sizeof(Setting) == 136);
static_assert(sizeof(ActivityBin) == 16 && sizeof(Activity) == 2072 && offsetof(Activity, bins) == 24);
static_assert(sizeof(TraceEvent) == 48 && offsetof(TraceEvent, peer) == 24 && offsetof(TraceEvent, call) == 40);
static_assert(sizeof(TraceHead) == sizeof(TraceEvent));
static_assert(sizeof(NcclOperation) == 64 && offsetof(NcclOperation, operations) == 40 &&
              offsetof(NcclOperation, tag) == 56);
static_assert(sizeof(GpuTime) == 72 && offsetof(GpuTime, operations) == 16);
static_assert(sizeof(GpuSequence) == 16400 && offsetof(GpuSequence, enqueued) == 8);
static_assert(sizeof(GpuWork) == 48 && offsetof(GpuWork, count) == 8);
static_assert(sizeof(NetworkUse) == 232 && offsetof(NetworkUse, interfaces) == 56 && offsetof(NetworkUse, ends) == 104);
static_assert(sizeof(NodeCounter) == 80 && offsetof(NodeCounter, wraps_at) == 56);
static_assert(sizeof(Fact) == 64 && offsetof(Fact, kind) == 48);

}  // namespace mpiprof::format
