// The vocabulary of the model: what kinds of calls, buffers, threads and endings there are, and the size bins.
// The model's own copies of what libmpiprof/format says, so that only read/ knows the file; read/ asserts
// that they agree.
#pragma once

#include <cstdint>
#include <string_view>

namespace mpiprof::report {

enum class Family : std::uint8_t { unknown = 0, mpi = 1, nccl = 2, cuda = 3 };
enum class Treatment : std::uint8_t { timed = 1, counted = 2 };

// What kind of traffic the bytes of a call are; sections group by it and know no call by its name.
enum class Traffic : std::uint8_t {
    none = 0,
    send = 1,
    receive = 2,
    exchange = 3,
    collective = 4,
    one_sided = 5,
    file = 6,  // file traffic is never added to message bytes
    completion = 7,
    probe = 8,
    sync = 9,
    setup = 10,
    local = 11,
    start = 12,     // persistent operations begin: the bytes of what was set up
    unknown = 255,  // a newer library's kind
};
// What a call of a certain size means for the busiest link: numbered as in the file. n: the ranks of its communicator.
enum class BusRule : std::uint8_t {
    none = 0,          // nccl-tests has no such operation
    whole = 1,         // the size
    twice_around = 2,  // 2 (n-1)/n of the size
    all_but_mine = 3,  // (n-1)/n of the size, which is n blocks
    other_blocks = 4,  // n-1 times the size, which is one block
};

std::string_view name_of(Traffic traffic);

// True where bytes are messages to other ranks.
constexpr bool carries_messages(Traffic traffic) {
    return (traffic >= Traffic::send && traffic <= Traffic::one_sided) || traffic == Traffic::start;
}

// True of calls that all members of a communicator have to enter.
constexpr bool is_collective(Traffic traffic) {
    return traffic == Traffic::collective || traffic == Traffic::sync || traffic == Traffic::setup;
}

enum class Buffer : std::uint8_t { host = 0, device = 1, managed = 2 };
inline constexpr unsigned buffer_kinds = 3;
std::string_view name_of(Buffer buffer);

enum class State : std::uint8_t {
    running = 1,    // still running, or killed
    finalized = 2,  // MPI_Finalize was entered
    aborted = 3,    // MPI_Abort
    exited = 4,     // exit() without MPI_Finalize
};
std::string_view name_of(State state);

// Of a process without an end in its profile.
enum class Life : std::uint8_t {
    unknown = 0,  // it ran on another machine
    running = 1,  // it is there at this moment
    ended = 2,    // it is not: killed
};

enum class ThreadKind : std::uint8_t { main = 1, other = 2 };

// How a communicator is known across ranks.
enum class CommKind : std::uint8_t {
    known,       // by an id on which its members agree
    self,        // every rank's MPI_COMM_SELF, together
    by_members,  // known by its members alone: several with the same ones are together
    unknown,     // with processes of other worlds: those of all ranks together
    other,       // more than are kept apart
    none,        // calls without a communicator (Wait, Test, files ...), or on one that a rank could not keep
};
std::string_view name_of(CommKind kind);

// Where the value of a setting is from.
enum class SettingSource : std::uint8_t {
    fallback = 0,      // nothing was set
    environment = 1,   // its own variable
    other_tool = 2,    // a variable of the tool that MPIPROF_COMPAT names
    named_file = 3,    // the file that MPIPROF_CONFIG names
    file_for_all = 4,  // /etc/mpiprof.conf
};
std::string_view name_of(SettingSource source);

// How a time on the GPU is known: by events around the call of NCCL, by CUPTI, by events around each kernel's launch.
enum class GpuSource : std::uint8_t { none = 0, events = 1, cupti = 2, launches = 3 };

enum class GpuWorkKind : std::uint8_t {
    nccl_kernels = 1,
    other_kernels = 2,
    host_to_device = 3,
    device_to_host = 4,
    device_to_device = 5,
    peer_to_peer = 6,
    other_copies = 7,
    graph_launches = 8,
    recorded = 9,
    nccl_running = 10,
};
std::string_view name_of(GpuWorkKind kind);

// Size bins: 0 holds size 0, then upper-inclusive powers of two: 1..4, 5..8, 9..16 ...
inline constexpr unsigned size_bins = 64;
constexpr std::uint64_t bin_max_bytes(unsigned bin) {
    if (bin == 0) return 0;
    return bin >= 63 ? ~std::uint64_t{0} : std::uint64_t{2} << bin;
}
constexpr unsigned size_bin(std::uint64_t bytes) {
    unsigned bin = 0;
    while (bin_max_bytes(bin) < bytes) ++bin;
    return bin;
}

}  // namespace mpiprof::report
