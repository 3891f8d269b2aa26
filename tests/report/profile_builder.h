// Builds the bytes of a profile file from a readable description, for the tests of the reporter: goldens, every
// prefix of a valid file, damaged offsets, files of another version.
// It knows libmpiprof/format and nothing else, so a test never checks the reader against the recorder's own code.
// It describes what a rank did; where the tables lie in the file is its own business (see table_of).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libmpiprof/format/layout.h"
#include "report/model/usage.h"
#include "tests/report/files.h"

namespace mpiprof::test {

// Calls of one function that fell into one size bin, from one site, on one communicator, by one thread.
struct CellSpec {
    std::uint64_t calls = 1;
    std::uint64_t bytes = 0;                // of all calls together
    std::uint64_t time_ns = 0;              // of all calls together
    std::optional<std::uint64_t> min_ns{};  // default: the mean
    std::optional<std::uint64_t> max_ns{};  // default: the mean
    std::uint64_t errors = 0;
    format::BufferKind buffer = format::BufferKind::host;
    std::uint16_t communicator = 1;  // index into ProfileSpec::communicators, counted from 1; 0 = not told apart
    std::uint32_t site = 0;          // index into ProfileSpec::sites, counted from 1; 0 = not told apart
    std::uint16_t region = 0;
    std::uint32_t thread = 1;                   // ThreadSpec::id
    std::optional<std::uint8_t> bin{};          // default: the bin of the mean size
    std::vector<std::uint64_t> durations_ns{};  // if given: calls, time, min, max and histogram follow from it
    std::uint64_t requests = 0;                 // that these calls posted and that completed; goes into the histogram
    std::uint64_t in_flight_ns = 0;
    std::uint64_t blocked_ns = 0;
    std::optional<std::uint64_t> inside_ns{};  // default: one request a Wait, as blocked_ns
    bool is_untimed = false;                   // NCCL told of these calls: no time, smallest, largest or histogram
};

struct CallSpec {
    std::string name;
    format::Traffic traffic = format::Traffic::none;
    format::SizeRule size_rule = format::SizeRule::none;
    std::vector<CellSpec> cells{};
    format::Treatment treatment = format::Treatment::timed;
    std::uint64_t calls = 0;  // of a counted or polled call: all of them; the cells of a polled one hold the timed ones
    std::uint64_t errors = 0;  // of a counted or polled call
    std::uint32_t thread = 1;  // of a counted or polled call
    format::Family family = format::Family::mpi;
    std::uint32_t arguments = 0;  // format::CallArguments
};

// The usual kinds, so that a description reads as a list of calls.
CallSpec collective(std::string name, std::vector<CellSpec> cells);
CallSpec setup(std::string name, std::vector<CellSpec> cells);
CallSpec sends(std::string name, std::vector<CellSpec> cells);
CallSpec receives(std::string name, std::vector<CellSpec> cells);
CallSpec sync(std::string name, std::vector<CellSpec> cells);
CallSpec completion(std::string name, std::vector<CellSpec> cells);
CallSpec file_access(std::string name, std::vector<CellSpec> cells);
CallSpec counted(std::string name, std::uint64_t calls);
struct ProfileSpec;
// On this machine, after all its files were written: files without a build-id are those that ran.
void run_here_and_now(ProfileSpec& spec);

struct FrameSpec {
    std::uint32_t module;  // index into ProfileSpec::modules, counted from 1; 0 = unknown
    std::uint64_t offset;
};
struct ModuleSpec {
    std::string path;
    std::uint64_t base = 0x400000;
    std::uint64_t end = 0x500000;
    std::vector<std::uint8_t> build_id{};
    std::string function{};  // of a script's; offsets are lines then
};
// A collective as the order counts it.
struct OrderedSpec {
    std::string call;
    std::int32_t root = 0;  // 0 of a call without one
};
// A collective that is kept with its times.
struct KeptSpec {
    std::string call;  // name of a call of this profile
    std::uint64_t number = 0;
    std::int64_t begin_ns = 0;  // since the end of MPI_Init
    std::uint64_t time_ns = 0;
    std::uint64_t bytes = 0;
    std::int32_t root = 0;
    std::uint32_t site = 0;  // as CellSpec
};
// A collective that NCCL has enqueued.
struct EnqueuedSpec {
    std::string call;         // name of a call of this profile
    std::uint64_t at_us = 0;  // since the end of MPI_Init
    std::uint64_t count = 1024;
    unsigned type = 7;  // float32
    unsigned op = 0;    // sum
    std::int32_t root = 0;
    std::uint32_t site = 0;  // as CellSpec
};
struct CommunicatorSpec {
    std::string name = "MPI_COMM_WORLD";
    std::uint64_t id = 1;
    std::uint64_t parent = 0;
    std::uint32_t size = 0;  // 0: the world's
    std::uint32_t rank = 0;
    format::Origin how = format::origin_world;
    std::uint16_t flags = 0;
    std::uint64_t handle = 0x44000000;
    std::string made_by{};                               // name of a call of this profile
    std::uint64_t made_at = 0;                           // the address that this call returned to
    std::vector<OrderedSpec> made{};                     // what its members make in one order, and have returned from
    std::vector<KeptSpec> kept{};                        // of these some
    std::vector<EnqueuedSpec> enqueued{};                // NCCL's in place of `made`; the newest are kept
    std::vector<format::EnqueuedPeer> enqueued_peers{};  // number n: messages to and from its rank n
    std::uint64_t collectives = 0;                       // how many there were in all, if `made` does not say
};
struct RequestSpec {
    std::uint64_t handle;
    std::string call;  // name of a call of this profile
    std::int32_t peer = 0, tag = 0;
    std::uint64_t address = 0x401234;  // where that call returns to
    bool is_started = true;
    std::uint64_t communicator = 0x44000000;
};
struct ThreadSpec {
    std::uint32_t id = 1;
    format::ThreadKind kind = format::ThreadKind::main;
    std::string in_call{};  // name of a call of this profile; empty = outside MPI
    std::uint64_t in_call_for_ns = 0;
    std::uint64_t nested = 0;
    std::string last_call{};  // outside MPI: the call it was in last, which it entered in_call_for_ns before the end
    std::uint64_t communicator = 0x44000000;  // its handle
    std::uint64_t address = 0x401234;         // where the call returns to
    std::uint32_t script_site = 0;    // index into ProfileSpec::sites, counted from 1: where a script made that call,
    bool is_of_earlier_call = false;  // or one before it
    std::int32_t peer = 0, tag = 0;   // of that call
    std::uint64_t request = 0;        // that it waits for, if it is one
    std::uint32_t requests = 0;       // how many
    std::vector<RequestSpec> open_requests{};
};
struct SettingSpec {
    std::string name;
    std::string value;
    std::uint32_t source = 1;
};

struct RegionSpec {
    std::string name;
    std::vector<std::uint64_t> durations_ns{};  // of each time
    bool is_iteration = false;
    std::uint64_t items = 0;        // of all times
    std::uint32_t parent = 0;       // index into ProfileSpec::regions, counted from 1; 0 = outside all
    std::uint64_t open_for_ns = 0;  // it was entered once more so long before the end, and never left
    // Marks: each duration is kept, of more than there is room for every second one. False: as old files have it.
    bool has_single_times = false;
    std::uint32_t single_changes = 0;
};
struct FactSpec {
    format::FactKind kind;
    std::string name;
    std::string value;
};

struct NcclOperationSpec {
    std::string call;  // name of a call of this profile
    std::uint64_t operations = 1;
    std::uint64_t bytes = 0;  // of all together
    std::string algorithm{};
    std::string protocol{};
    std::uint8_t channels = 0;
    std::uint16_t communicator = 1;  // index into ProfileSpec::communicators, counted from 1
    std::uint16_t flags = 0;
    std::uint64_t tag = 0;
};

struct FlowSpec {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t time_ns = 0;
};
struct PeerSpec {
    std::uint32_t rank;
    FlowSpec sent{};
    FlowSpec received{};
    format::PeerKind kind = format::PeerKind::messages;
    std::uint32_t thread = 1;
};

// Operations of NCCL of one size, by the GPU's time.
struct GpuTimeSpec {
    std::string call;  // of this profile
    std::vector<std::uint64_t> durations_ns;
    std::uint64_t bytes = 0;  // of each
    std::uint16_t communicator = 1;
    format::GpuSource source = format::GpuSource::cupti;
    bool is_replayed = false;
    std::uint64_t kernels = 0;
    std::uint64_t others_bytes = 0;  // of each; not 0: these are exchanges
    std::uint64_t replays = 0;       // not 0: so many by CUDA graphs, without a time
};
struct GpuSequenceSpec {
    std::vector<double> us;             // of the last operations; 0 = not measured
    std::uint64_t enqueued_before = 0;  // these
    std::uint16_t communicator = 1;
};

struct NodeCounterSpec {
    std::string name;
    std::uint64_t value;  // how far it went
    format::NodeCounterUnit unit = format::NodeCounterUnit::microjoules;
    std::uint64_t stops_at = 0;  // of events
    bool is_unreadable = false;
};

// The ring of one thread, as it lies in the file; `call` of an event is the number of a call of this profile, from 1
// on.
struct TraceSpec {
    std::vector<format::TraceEvent> ring{};
    std::uint64_t written = 0;
    std::uint32_t thread = 1;
};

struct ProfileSpec {
    std::uint32_t rank = 0;
    std::uint32_t size = 1;
    std::string host = "node1";
    std::string node{};  // default: "boot-" + host
    std::string job = "4711";
    std::string job_ids{};
    std::string launch = "pmix:4711.0";
    std::string command = "./app --steps 10";
    std::string executable = "/home/user/app";
    std::string directory = "/home/user";
    std::string launcher = "Open MPI";
    std::string library = "0.1.0";
    std::string mpi_library = "Open MPI v4.1.4";
    format::MpiFamily mpi_family = format::MpiFamily::open_mpi;
    format::State state = format::State::finalized;
    std::int32_t exit_code = 0;
    std::uint32_t pid = 1234;
    std::uint32_t local_rank = format::no_local_rank;
    std::uint32_t thread_level = 0;
    std::uint32_t flags = 0;
    format::StoreKind store = format::StoreKind::mapped;
    std::uint32_t store_period_ms = 0;

    // Clock. Ticks of the file are nanoseconds unless ticks_per_us says otherwise (2500 is a 2.5 GHz TSC).
    format::ClockKind clock = format::ClockKind::monotonic;
    std::uint64_t ticks_per_us = 1000;
    std::int64_t clock_ahead_ns = 0;                              // the clock of the node, against that of others
    std::uint64_t start_realtime_ns = 1'700'000'000'000'000'000;  // when MPI_Init returned
    std::uint64_t elapsed_ns = 1'000'000'000;                     // from there to MPI_Finalize, or to the last update
    std::uint64_t init_ns = 20'000'000;                           // inside MPI_Init
    std::uint64_t before_init_ns = 50'000'000;                    // from the start of the process to MPI_Init
    std::uint64_t finalize_ns = 5'000'000;
    std::uint64_t paused_ns = 0;
    bool is_updated = true;  // false: last updated after MPI_Init, as where no helper thread could be started
    std::uint64_t own_setup_ns = 100'000;
    std::uint64_t own_ns_of_16_calls = 0;

    format::ResourceUse usage{};
    format::ResourceUse usage_at_start{};
    format::ProcessorTime processor{};
    format::AllowedProcessors allowed{};
    report::Usage::Stretches between_calls{}, in_calls{};  // the main thread's
    std::uint64_t memory_limit = 0;
    std::uint64_t throttled_us_at_start = 0;
    std::uint64_t throttled_us = 0;
    format::Drops drops{};
    std::vector<CallSpec> calls{};
    std::vector<CommunicatorSpec> communicators{CommunicatorSpec{}};
    std::vector<std::vector<FrameSpec>> sites{};
    std::uint16_t common_frames = 0;  // so many frames of each site hold for all its calls; 0: as old files have it
    std::vector<ModuleSpec> modules{};
    std::vector<ThreadSpec> threads{ThreadSpec{}};  // threads met only in cells are added by themselves
    std::vector<SettingSpec> settings{};
    std::vector<std::pair<std::string, std::string>> labels{};
    std::vector<RegionSpec> regions{};
    std::vector<FactSpec> facts{};
    std::vector<PeerSpec> peers{};
    std::vector<GpuTimeSpec> gpu_times{};
    std::vector<GpuSequenceSpec> gpu_sequences{};
    std::vector<format::GpuWork> gpu_work{};
    std::vector<NodeCounterSpec> node_counters{};
    std::optional<format::NetworkUse> network{};
    std::vector<TraceSpec> traces{};
    std::vector<NcclOperationSpec> nccl_operations{};
    bool histograms = true;

    // What only files of other versions, or unlucky ones, look like.
    std::uint16_t format_major = format::format_major;
    std::uint16_t format_minor = format::format_minor;
    std::int32_t record_growth = 0;         // every record longer (or shorter) by this many bytes, multiple of 8
    std::int32_t header_growth = 0;         // the same for the header
    bool unknown_table = false;             // one more table, of a type nobody knows
    std::uint32_t directory_capacity = 32;  // small values chain several directory blocks
};

Bytes build(const ProfileSpec& spec);

// `mpi_profile.<job>.<rank>` of this profile in `directory`; returns the path.
std::filesystem::path write_profile(const std::filesystem::path& directory, const ProfileSpec& spec);
// For damage: where things lie in what build() returned.
struct TablePlace {
    std::size_t entry;  // offset of the directory entry
    format::Table table;
};
std::optional<TablePlace> table_of(const Bytes& bytes, format::TableType type, std::uint32_t thread = 0);

template <typename T>
void overwrite(Bytes& bytes, std::size_t offset, const T& value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes.at(offset + i) = from[i];
}

}  // namespace mpiprof::test
