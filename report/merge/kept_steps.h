// The collectives that a rank has kept of one communicator, as parts of a merge keep them until the job has numbers for
// their calls and places.
#pragma once

#include <cstdint>
#include <vector>

#include "report/merge/rank_profile.h"
#include "report/merge/spots.h"
#include "report/model/hanging.h"

namespace mpiprof::report {

struct KeptSteps {
    // OrderedStep::place is an index into `spots`, `call` one into the registry.
    std::vector<OrderedStep> steps{};  // by number
    std::vector<Spot> spots{};         // [0] = not known
};

KeptSteps kept_steps(const RankProfile& from, const KeptCalls& kept);
// With the job's numbers; its places and modules have those of these steps from now on.
std::vector<OrderedStep> steps_of(const KeptSteps& kept, Finishing& end);

}  // namespace mpiprof::report
