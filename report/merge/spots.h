// Places in the program's files as parts of a merge keep them, until the job has numbers for them.
#pragma once

#include <cstdint>

#include "report/model/job.h"
#include "report/model/profile.h"

namespace mpiprof::report {

struct Spot {
    Module module;
    std::uint64_t offset = 0;  // 0: not known
};

// Of a rank's frame; not known where its module is not.
Spot spot_of(const Profile& profile, const Frame& frame);
// Its index into Job::places, which has it from now on.
std::uint32_t place_of(Job& job, const Spot& spot);

}  // namespace mpiprof::report
