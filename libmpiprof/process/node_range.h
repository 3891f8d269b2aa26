// The file that the ranks of a node share (MPIPROF_FILES=node): whether a rank is to have a range of it, what it is
// called, claiming the range and giving it back. Called by profile_file.cpp alone; no rank waits for another one here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libmpiprof/format/node_file.h"
#include "libmpiprof/record/image.h"

namespace mpiprof {

inline constexpr std::uint32_t no_range = ~std::uint32_t{0};

// no_range: a file of its own. `who` is a header that describes the process.
std::uint32_t range_for(const format::Header& who);

// What all ranks of the launch on this node make of it, and no others.
std::uint64_t node_key(const format::Header& who);

// Of the node's file, which was opened or made. False and errno: it is not ours, or the range is another's.
bool claim_range(int fd, std::uint32_t range, const format::Header& who, FileIdentity& identity);

// The profile is elsewhere: what was written is taken away. The range stays claimed, since it may be mapped still.
void give_back_range(int fd, std::uint32_t range);

}  // namespace mpiprof
