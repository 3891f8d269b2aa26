// Who came last and what that costs the others, as the rules about slow ranks and those about waiting for nobody in
// particular ask.
#pragma once

#include <algorithm>
#include <optional>

#include "report/analysis/causes.h"

namespace mpiprof::report {

using Ranks = std::vector<std::uint32_t>;  // sorted

inline bool is_in(const Ranks& ranks, std::uint32_t rank) {
    return std::binary_search(ranks.begin(), ranks.end(), rank);
}

// Into so many periods a run is cut to see when ranks were slow.
inline constexpr std::size_t periods_of_course = 48;

// How long the others wait for ranks that are outside MPI for so long, on average: as much shorter as they are outside,
// they wait inside it.
struct OthersWait {
    double ns = 0;
    double run_share = 0, mpi_share = 0;  // of the others' runs, and of their time in MPI
};
OthersWait others_wait(const Job& job, const Ranks& waited_for, double outside_ns);

// Of what these ranks spend outside the library they were on a processor for at most so much; empty: not known.
std::optional<double> cpu_share_of(const Job& job, const Ranks& ranks);

// Of the call that most waiting is in, where calls were compared.
const ComparedCall* most_waited_in(const Job& job);
// How often they were last to it.
std::optional<evidence::CameLast> came_last(const Job& job, const Ranks& ranks);

// The ranks that are late in turn, each for a stretch of the run: a hot spot that moves. Empty where it is now one and
// now another.
Ranks late_in_turn(const Job& job);

}  // namespace mpiprof::report
