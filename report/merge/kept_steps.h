// Places in the program's files, and the collectives that a rank has kept of one communicator, as parts of a merge keep
// them until the job has numbers for their calls and places.
#pragma once

#include <cstdint>
#include <vector>

#include "report/merge/part.h"
#include "report/model/hanging.h"

namespace mpiprof::report {

struct Spot {
    Module module;
    std::uint64_t offset = 0;  // 0: not known
};

// Of a rank's frame; not known where its module is not.
Spot spot_of(const Profile& profile, const Frame& frame);
// Its index into Job::places, which has it from now on.
std::uint32_t place_of(Job& job, const Spot& spot);

struct KeptSteps {
    // OrderedStep::place is an index into `spots`, `call` one into the registry.
    std::vector<OrderedStep> steps{};  // by number
    std::vector<Spot> spots{};         // [0] = not known
};

KeptSteps kept_steps(const RankProfile& from, const KeptCalls& kept);
// With the job's numbers; its places and modules have those of these steps from now on.
std::vector<OrderedStep> steps_of(const KeptSteps& kept, Finishing& end);

}  // namespace mpiprof::report
