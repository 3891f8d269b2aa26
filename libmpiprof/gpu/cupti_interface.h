// CUPTI's interface as far as it is used, in our own declarations: one binary for the CUPTI of CUDA 11, 12 and 13. Of
// records only the fields are named whose places have been the same since CUDA 11; their sizes differ, so they are
// walked by CUPTI's own function alone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mpiprof::gpu::cupti {

inline constexpr int success = 0, not_initialized = 15, too_many_subscribers = 39, unknown = 999;
inline constexpr std::uint32_t oldest_version = 13;  // CUDA 11.0: kernels tell their graph
// 13.0 Update 1: disabling concurrent_kernel could deadlock before (release notes of CUPTI).
inline constexpr std::uint32_t kernels_may_be_disabled = 130001;

enum Kind : std::uint32_t {
    memcpy = 1,
    driver = 4,
    concurrent_kernel = 10,
    memcpy_between_devices = 22,
    external_correlation = 39
};

// How many buffers of about 3 MB each CUPTI may take of each device's memory: 250 if nobody says.
inline constexpr int device_buffers = 2;  // an attribute
inline constexpr std::size_t most_device_buffers = 16;

// Kineto takes the first two custom ones.
inline constexpr int external_ids = 5;  // CUSTOM2

// Functions of the driver, by CUPTI's numbers. Those that launch are cuLaunchKernel, cuLaunchKernelEx and
// cuGraphLaunch, each with its per-thread twin: what is launched is linked to us only if the record of such a call is
// collected.
constexpr bool launches_graph(std::uint32_t function) { return function == 514 || function == 515; }
constexpr bool launches(std::uint32_t function) {
    return function == 307 || function == 442 || function == 652 || function == 653 || launches_graph(function);
}
// CUPTI of CUDA 12.5, the first that can leave functions out, knows those below.
inline constexpr std::uint32_t driver_functions = 759;

enum class Copy : std::uint8_t { host_to_device = 1, device_to_host = 2, device_to_device = 8, peer_to_peer = 10 };

struct Kernel {
    std::uint32_t kind;
    char before_start[12];
    std::uint64_t start, end;
    char before_device[8];
    std::uint32_t device, context, stream;
    char before_correlation[40];
    std::uint32_t correlation;
    char before_name[8];
    const char* name;
    char before_graph_node[32];
    std::uint64_t graph_node;  // 0: not of a graph
};
static_assert(offsetof(Kernel, start) == 16 && offsetof(Kernel, end) == 24 && offsetof(Kernel, device) == 40 &&
              offsetof(Kernel, stream) == 48);
static_assert(offsetof(Kernel, correlation) == 92 && offsetof(Kernel, name) == 104 &&
              offsetof(Kernel, graph_node) == 144);

struct Memcpy {  // and between devices
    std::uint32_t kind;
    Copy copy;
    char before_bytes[3];
    std::uint64_t bytes, start, end;
    std::uint32_t device;
};
static_assert(offsetof(Memcpy, copy) == 4 && offsetof(Memcpy, bytes) == 8 && offsetof(Memcpy, start) == 16 &&
              offsetof(Memcpy, device) == 32);

struct Api {
    std::uint32_t kind, function;
};

struct ExternalCorrelation {
    std::uint32_t kind, external_kind;
    std::uint64_t id;
    std::uint32_t correlation;
};
static_assert(offsetof(ExternalCorrelation, id) == 8 && offsetof(ExternalCorrelation, correlation) == 16);

using Requested = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records);
using Completed = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                           std::size_t valid);

using Clock = std::uint64_t (*)();

// These stand in the order of the names in cupti.cpp.
struct Functions {
    int (*version)(std::uint32_t* version);
    int (*subscribe)(void** subscriber, void (*callback)(void*, int, std::uint32_t, const void*), void* data);
    int (*unsubscribe)(void* subscriber);
    int (*register_callbacks)(Requested requested, Completed completed);
    int (*enable)(int kind);
    int (*disable)(int kind);
    int (*push)(int kind, std::uint64_t id);
    int (*pop)(int kind, std::uint64_t* id);
    int (*flush)(std::uint32_t forced);
    int (*next_record)(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record);
    int (*dropped)(void* context, std::uint32_t stream, std::size_t* dropped);
    // From here on some versions lack them.
    int (*enable_driver_api)(std::uint32_t function, std::uint8_t on);
    int (*flush_period)(std::uint32_t ms);
    int (*finalize)();
    int (*set_attribute)(int attribute, std::size_t* bytes, void* value);
    int (*register_clock)(Clock clock);
};

}  // namespace mpiprof::gpu::cupti
