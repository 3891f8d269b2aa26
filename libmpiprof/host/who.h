// Who we are, without asking anyone: the launch that all ranks of one mpirun, srun step or torchrun share, the job as
// people call it, the node, the process. Read from the environment and /proc at start; never from other ranks.
#pragma once

#include "libmpiprof/host/world.h"

namespace mpiprof {

// Fills the identity fields of the header: launch, job, node, host, launcher, command, executable, directory, pid.
// `job`: what the user calls it; empty: what scheduler or launcher call it. Without `says_how` neither the arguments
// nor the working directory.
void describe_process(format::Header& header, const World& world, const char* job, bool says_how);
// What tells this process from all others of its node, whatever number it has: "namespace start".
void kernels_name(char* text, std::size_t size);
// Only what depends on the world, which may be known better later: rank, size, launch, the library.
void describe_world(format::Header& header, const World& world);

}  // namespace mpiprof
