// Who we are, without asking anyone: the launch that all ranks of one mpirun, srun step or torchrun share, the job as
// people call it, the node, the process. Read from the environment and /proc at start; never from other ranks.
#pragma once

#include "libmpiprof/format/layout.h"

namespace mpiprof {

// What the MPI library itself said, after the real MPI_Init.
struct World {
    unsigned rank;
    unsigned size;
    bool is_world;  // false: sessions only; rank and size are the launcher's
    bool is_spawned;
    unsigned thread_level;
    format::MpiFamily family;
    const char* library;        // MPI_Get_library_version
    int cuda_aware = -1;        // MPIX_Query_cuda_support; -1: the library has no such question
    bool is_launchers = false;  // rank and size are what the launcher's environment says
};

// Fills the identity fields of the header: launch, job, node, host, launcher, command, executable, directory, pid.
// `job`: what the user calls it; empty: what scheduler or launcher call it.
void describe_process(format::Header& header, const World& world, const char* job);
// Only what depends on the world, which may be known better later: rank, size, launch, the library.
void describe_world(format::Header& header, const World& world);

}  // namespace mpiprof
