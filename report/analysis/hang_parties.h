// Of standings: whether they prove anything, and the hang that they make. For the proofs in deadlocks.cpp and
// collective_orders.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "report/analysis/hangs.h"

namespace mpiprof::report {

// What was not counted proves nothing.
bool counts_have_holes(const Job& job);

// In one that all members of its communicator have to come to, and that does not return before.
bool is_in_collective(const Job& job, const Standing& standing);

// For one that it has posted.
bool waits_for_collective_of(const Standing& standing, std::uint32_t group);

// Ranks that stand alike in all that is said of them are one party.
Hang hang_between(Hang::Kind kind, std::uint32_t group, const std::vector<const Standing*>& standings);

}  // namespace mpiprof::report
