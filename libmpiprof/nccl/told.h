// An operation as NCCL tells its profiler of it, in one form for all versions of that interface; and what its words
// mean. Used by profiler.cpp alone, once per operation.
#pragma once

#include <string.h>

#include <type_traits>

#include "libmpiprof/nccl/catalogue.h"
#include "libmpiprof/nccl/profiler_interface.h"
#include "libmpiprof/nccl/types.h"

namespace mpiprof::nccl {

struct Told {
    const char* function;
    const char* type;
    std::size_t count;
    unsigned channels;
    const char* algorithm;
    const char* protocol;
    const char* communicator;  // null: not told
    std::uint64_t hash;        // 0: not told
    int rank;
    std::size_t traffic;  // of a gather or reduce-scatter: the message size, as here; 0: not told
    bool is_own;          // sent to, or received from, the rank itself
    bool has_tag;         // told by a version that has tags:
    std::uint64_t tag;    // the program's; 0: none
};

template <std::size_t N>
const char* nth(const char (&texts)[N][16], unsigned i) {
    return i < N ? texts[i] : nullptr;
}

template <class Collective>
Told told_of_collective(const Collective& c) {
    Told told{nullptr, nullptr, c.count, c.channels, nullptr, nullptr, nullptr, 0, c.begun.rank, 0, false, false, 0};
    if constexpr (requires { c.reduction; }) {
        told.function = nth(interface::functions_1, c.function);
        told.type = nth(type_names, c.type_of_data);
        told.algorithm = nth(interface::algorithms_1, c.algorithm);
        told.protocol = nth(interface::protocols_1, c.protocol);
    } else {
        told.function = c.function;
        told.type = c.type_of_data;
        told.algorithm = c.algorithm;
        told.protocol = c.protocol;
    }
    if constexpr (requires { c.hash; }) {
        told.communicator = c.name;
        told.hash = c.hash;
    }
    if constexpr (requires { c.traffic; }) told.traffic = c.traffic;
    return told;
}

template <class PointToPoint>
Told told_of_point_to_point(const PointToPoint& p) {
    Told told{nullptr, nullptr, p.count, 0, nullptr, nullptr, nullptr, 0, p.begun.rank, 0, p.peer == p.begun.rank,
              false,   0};
    if constexpr (std::is_same_v<decltype(p.function), std::uint8_t>) {
        told.function = nth(interface::functions_1, p.function);
        told.type = nth(type_names, p.type_of_data);
    } else {
        told.function = p.function;
        told.type = p.type_of_data;
    }
    if constexpr (requires { p.channels; }) told.channels = p.channels;
    if constexpr (requires { p.hash; }) {
        told.communicator = p.name;
        told.hash = p.hash;
    }
    return told;
}

inline Told told_of_collective(const interface::Collective7& c) {
    Told told = told_of_collective(c.begins);
    told.has_tag = true;
    told.tag = c.tag;
    return told;
}
inline Told told_of_point_to_point(const interface::PointToPoint7& p) {
    Told told = told_of_point_to_point(p.begins);
    told.has_tag = true;
    told.tag = p.tag;
    return told;
}

inline Told told_of_call(const interface::Call5& call) {
    return {
        call.function, call.type_of_data, call.count, 0, nullptr, nullptr, nullptr, 0, call.rank, 0, false, false, 0};
}

struct Function {
    char name[16];  // as NCCL tells it
    Id id;
    bool has_blocks;  // the message is a block for each rank
};
inline constexpr Function functions[] = {
    {"AllReduce", Id::AllReduce, false}, {"Send", Id::Send, false},
    {"Recv", Id::Recv, false},           {"AllGather", Id::AllGather, true},
    {"Broadcast", Id::Broadcast, false}, {"ReduceScatter", Id::ReduceScatter, true},
    {"Reduce", Id::Reduce, false},       {"AlltoAll", Id::AlltoAll, true},
    {"Gather", Id::Gather, true},        {"Scatter", Id::Scatter, true},
};

inline const Function* function_of(const char* name) {
    if (name)
        for (const Function& function : functions)
            if (strcmp(function.name, name) == 0) return &function;
    return nullptr;
}

}  // namespace mpiprof::nccl
