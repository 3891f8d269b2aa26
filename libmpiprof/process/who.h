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

// Rank and size by the launcher's environment; used where MPI has no world, and to know rank 0 before it has one.
struct LaunchRank {
    bool known;
    unsigned rank, size, local_rank;
};
LaunchRank rank_by_launcher();

// The world of a job without MPI: the launcher's word, unless it knows fewer processes than there are; then `rank` and
// `size`, as the program initialised a communicator.
World world_without_mpi(unsigned rank, unsigned size, const char* library);

// Whether the name of an option or variable says that its value is not for others to read.
bool looks_secret(const char* word, std::size_t length);

// Fills the identity fields of the header: launch, job, node, host, launcher, command, executable, directory, pid.
void describe_process(format::Header& header, const World& world);
// Only what depends on the world, which may be known better later: rank, size, launch, the library.
void describe_world(format::Header& header, const World& world);

}  // namespace mpiprof
