// Of standings: whether they prove anything, and the hang that they make. For hangs.cpp and the proofs in deadlocks.cpp
// and collective_orders.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "report/analysis/hang.h"

namespace mpiprof::report {

// It will enter no call any more, or only MPI_Finalize.
bool is_gone(const Rank& rank);
// The ranks that will enter nothing any more. Killed ones prove something only while others run on.
std::vector<std::uint32_t> never_come(const Job& job);
// Threads that have been inside a call for so long that it is worth a word.
std::vector<const Standing*> long_inside(const Job& job);
// Those that stand alike are one party, the largest first.
std::vector<Party> parties_of(const std::vector<const Standing*>& standings);

// Those of `sorted` whose `field` has this value. Not std::ranges::equal_range, which clang 14 does not compile.
template <class T, class Key>
std::span<const T> all_with(std::span<const T> sorted, Key key, Key T::*field) {
    const auto begin = std::partition_point(sorted.begin(), sorted.end(), [&](const T& t) { return t.*field < key; });
    const auto end = std::partition_point(begin, sorted.end(), [&](const T& t) { return t.*field == key; });
    return sorted.subspan(static_cast<std::size_t>(begin - sorted.begin()), static_cast<std::size_t>(end - begin));
}
// What is known of one communicator; Job has them in its order.
std::span<const Membership> memberships_of(const Job& job, std::uint32_t group);
std::span<const Entries> entries_of(const Job& job, std::uint32_t group);

// What was not counted proves nothing.
bool counts_have_holes(const Job& job);

// In one that all members of its communicator have to come to, and that does not return before.
bool is_in_collective(const Job& job, const Standing& standing);

// For one that it has posted.
bool waits_for_collective_of(const Standing& standing, std::uint32_t group);

// Ranks that stand alike in all that is said of them are one party.
Hang hang_between(Hang::Kind kind, std::uint32_t group, const std::vector<const Standing*>& standings);

}  // namespace mpiprof::report
