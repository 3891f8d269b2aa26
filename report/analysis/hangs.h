// What is proven of a hang: calls that can never match, and waiting for somebody who will never come. What is not
// proven is in arrivals.h. For the section `hang`; the proofs are in hangs.cpp and deadlocks.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "report/analysis/hang.h"
#include "report/model/job.h"

namespace mpiprof::report {

// No rank is known to run, and either none can be any more or one has ended them all by MPI_Abort.
bool is_over(const Job& job);

// Of a running job, and of one that was ended while it hung.
std::optional<Hang> hang_of(const Job& job);

// "cycle", "different-roots": for scripts.
std::string_view id_of(Hang::Kind kind);

// Since when no call has ended, or, with ranks outside, none has begun; nothing where some rank says nothing.
struct Quiet {
    std::uint64_t for_ns = 0;
    bool are_all_inside = false;
};
std::optional<Quiet> quiet_of(const Job& job);

}  // namespace mpiprof::report
