// NCCL's profiler interface (2.23 and later, RCCL with it) in our own words: the layouts of its versions 1 to 7, as far
// as they are read here. NCCL asks a plugin for the newest version that it knows itself, so each has its readers. No
// header of NCCL is needed. Used by profiler.cpp alone, which reads these and never writes them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mpiprof::nccl::interface {

// What is told of; a plugin says which of these it wants. Wanting a thing brings what it is a part of, too.
// Launches of kernels are told of from version 5 on, and so are the calls themselves: of these a collective is told
// of whatever becomes of it, by copy engines, say, or several at once.
enum Event : int {
    group = 1,
    collective = 2,
    point_to_point = 4,
    collective_call = 1 << 9,
    point_to_point_call = 1 << 10,
    kernel_launch = 1 << 11
};

// NCCL has one mask for the process and begins with 0. Its other threads read it while a communicator is made, so it is
// only ever raised: what they do while it is lower for an instant, nobody is told of.
inline void want(int& mask, int events) {
    if ((mask & events) != events) mask |= events;
}

// Functions of the first version, and what it calls algorithms and protocols: numbers. Later ones are given texts.
inline constexpr char functions_1[][16] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                           "AllReduce", "SendRecv", "Send",      "Recv"};
inline constexpr char algorithms_1[][16] = {"TREE",      "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS",
                                            "NVLS_TREE", "PAT"};
inline constexpr char protocols_1[][16] = {"LL", "LL128", "SIMPLE"};

// An event is this, and behind it what is particular to its kind. `type` is wider from version 5 on: its lower byte
// tells all that is asked for here.
struct Begun {
    std::uint8_t type;
    void* parent;
    int rank;
};
static_assert(offsetof(Begun, parent) == 8 && offsetof(Begun, rank) == 16 && sizeof(Begun) == 24);

struct Collective1 {
    Begun begun;
    const char* name;    // of the communicator
    std::uint64_t hash;  // likewise
    std::uint64_t number;
    std::uint8_t function;
    const void* sent;
    void* received;
    std::size_t count;
    int root;
    std::uint8_t type_of_data;
    std::uint32_t reduction;
    std::size_t traffic;
    std::uint8_t channels, warps, algorithm, protocol;
};
static_assert(offsetof(Collective1, hash) == 32 && offsetof(Collective1, function) == 48 &&
              offsetof(Collective1, count) == 72);
static_assert(offsetof(Collective1, type_of_data) == 84 && offsetof(Collective1, traffic) == 96 &&
              offsetof(Collective1, channels) == 104);
static_assert(offsetof(Collective1, algorithm) == 106 && offsetof(Collective1, protocol) == 107);
struct PointToPoint1 {
    Begun begun;
    const char* name;
    std::uint64_t hash;
    std::uint8_t function;
    void* buffer;
    std::uint8_t type_of_data;
    std::size_t count;
    int peer;
};
static_assert(offsetof(PointToPoint1, function) == 40 && offsetof(PointToPoint1, type_of_data) == 56 &&
              offsetof(PointToPoint1, count) == 64);

struct Collective2 {
    Begun begun;
    const char* name;
    std::uint64_t hash;
    std::uint64_t number;
    const char* function;
    const void* sent;
    void* received;
    std::size_t count;
    int root;
    const char* type_of_data;
    std::size_t traffic;
    std::uint8_t channels, warps;
    const char* algorithm;
    const char* protocol;
};
static_assert(offsetof(Collective2, function) == 48 && offsetof(Collective2, count) == 72 &&
              offsetof(Collective2, type_of_data) == 88);
static_assert(offsetof(Collective2, traffic) == 96 && offsetof(Collective2, channels) == 104);
static_assert(offsetof(Collective2, algorithm) == 112 && offsetof(Collective2, protocol) == 120);
struct PointToPoint2 {
    Begun begun;
    const char* name;
    std::uint64_t hash;
    const char* function;
    void* buffer;
    const char* type_of_data;
    std::size_t count;
    int peer;
};
static_assert(offsetof(PointToPoint2, function) == 40 && offsetof(PointToPoint2, type_of_data) == 56 &&
              offsetof(PointToPoint2, count) == 64);

struct Collective3 {
    Begun begun;
    const char* name;
    std::uint64_t hash;
    std::uint64_t number;
    const char* function;
    const void* sent;
    void* received;
    std::size_t count;
    int root;
    const char* type_of_data;
    std::uint8_t channels, warps;
    const char* algorithm;
    const char* protocol;
};
static_assert(offsetof(Collective3, type_of_data) == 88 && offsetof(Collective3, channels) == 96);
static_assert(offsetof(Collective3, algorithm) == 104 && offsetof(Collective3, protocol) == 112);
using PointToPoint3 = PointToPoint2;

// Versions 4 to 6: the communicator is told of when it is made. Later versions, and RCCL's, have more behind this.
struct Collective4 {
    Begun begun;
    std::uint64_t number;
    const char* function;
    const void* sent;
    void* received;
    std::size_t count;
    int root;
    const char* type_of_data;
    std::uint8_t channels, warps;
    const char* algorithm;
    const char* protocol;
};
static_assert(offsetof(Collective4, function) == 32 && offsetof(Collective4, count) == 56 &&
              offsetof(Collective4, type_of_data) == 72);
static_assert(offsetof(Collective4, channels) == 80 && offsetof(Collective4, algorithm) == 88 &&
              offsetof(Collective4, protocol) == 96);
struct PointToPoint4 {
    Begun begun;
    const char* function;
    void* buffer;
    const char* type_of_data;
    std::size_t count;
    int peer;
    std::uint8_t channels;
};
static_assert(offsetof(PointToPoint4, function) == 24 && offsetof(PointToPoint4, type_of_data) == 40 &&
              offsetof(PointToPoint4, count) == 48);
static_assert(offsetof(PointToPoint4, channels) == 60);

// Version 7 has this behind it, and what the program gave the call (ncclCollConfig_t::userProfilerTag).
struct Collective7 {
    Collective4 begins;
    void* group;
    const char* variant;
    bool is_symmetric;
    std::uint64_t tag;
};
static_assert(offsetof(Collective7, group) == 104 && offsetof(Collective7, tag) == 128);
struct PointToPoint7 {
    PointToPoint4 begins;
    void* group;
    std::uint64_t tag;
};
static_assert(offsetof(PointToPoint7, group) == 64 && offsetof(PointToPoint7, tag) == 72);

// From version 5 on the type is as wide as this. A call, told in the thread that makes it, captured into a graph or
// not; never when a graph is replayed.
struct Call5 {
    std::uint64_t type;
    void* parent;
    int rank;  // 0: not told
    const char* function;
    std::size_t count;
    const char* type_of_data;
};
static_assert(offsetof(Call5, function) == 24 && offsetof(Call5, count) == 32 && offsetof(Call5, type_of_data) == 40);

// Told in the thread that launches, right before the launch.
struct KernelLaunch5 {
    std::uint64_t type;
    void* parent;
    int rank;
    void* stream;
};
static_assert(offsetof(KernelLaunch5, rank) == 16 && offsetof(KernelLaunch5, stream) == 24);

// Where a collective and a Send or Recv of version 5 and later have their second parent, a group.
inline constexpr std::size_t group_of_collective_5 = 104, group_of_point_to_point_5 = 64;

// What a plugin is, in all versions; the arguments of `init` differ. Results are NCCL's: 0 is success.
struct Plugin {
    const char* name;
    void* init;
    int (*start_event)(void* context, void** handle, Begun* event);
    int (*stop_event)(void* handle);
    int (*record_event_state)(void* handle, int state, void* arguments);
    int (*finalize)(void* context);
};
static_assert(sizeof(Plugin) == 48);

}  // namespace mpiprof::nccl::interface
