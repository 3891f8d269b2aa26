// What holds up a job of which no hang is proven: the nearest to an answer that its standings give. `hang` says it
// first, and the summary of a job that was killed.
#pragma once

#include <variant>
#include <vector>

#include "report/analysis/arrivals.h"
#include "report/analysis/nccl_hangs.h"
#include "report/analysis/nccl_messages.h"

namespace mpiprof::report {

// Ranks inside a call of MPI's, for others.
struct WaitsInside {
    Arrival arrival;
};
// GPUs, for members that have not enqueued what others have.
struct NotEnqueued {
    Arrival lag;
};
// Each has lasted so long that it is worth a word. std::monostate: nothing is known.
using Suspicion = std::variant<std::monostate, MixedWait, WaitsInside, Crossing, Unlike, UnevenMessages, NotEnqueued>;

// `arrivals`: of arrivals_of(); `lags`: of not_enqueued_by_all(). MixedWait points into the job's standings.
Suspicion suspicion_of(const Job& job, const std::vector<Arrival>& arrivals, const std::vector<Arrival>& lags);

}  // namespace mpiprof::report
