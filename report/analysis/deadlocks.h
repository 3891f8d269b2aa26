// Proofs that calls in hand will never end: members of a communicator that have not made the same collectives, and
// ranks each of which can be released only by others that are as stuck. For hangs.cpp.
#pragma once

#include <optional>
#include <vector>

#include "report/analysis/hang.h"
#include "report/model/job.h"

namespace mpiprof::report {

// `inside`: who has been inside a call for long.
std::optional<Hang> broken_order(const Job& job, const std::vector<const Standing*>& inside);
// Ranks that are stuck for one another, in all classes but a cycle of messages that would fit.
std::optional<Hang> deadlock(const Job& job, const std::vector<const Standing*>& inside);
std::optional<Hang> cycle(const Job& job, const std::vector<const Standing*>& inside);

}  // namespace mpiprof::report
