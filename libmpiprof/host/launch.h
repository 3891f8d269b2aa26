// The launch: what started the ranks, how it calls them, and the name that all ranks of one mpirun, srun step or
// torchrun share. Read from the environment and from the processes above us.
#pragma once

#include "libmpiprof/host/processes.h"
#include "libmpiprof/host/world.h"

namespace mpiprof {

// The nearest process above that starts ranks. Between it and a rank there may be others: scripts that do not exec,
// time, strace, gdb.
struct Starter {
    unsigned pid = 0;  // 0: there is none to be seen
    unsigned parent = 0;
    char port[80] = "";  // Hydra's proxy: whom it reports to, HOST:PORT, as all proxies of the launch do
    char group[16] = "0";
};
Starter starter_above(const ProcessStat& self);

// Where Hydra started us and cannot be seen (from a container with PID namespace of its own): what all ranks of the
// launch on this node have of it nevertheless, and a number made of that. False: nothing.
struct SharedMark {
    char name[64];
    unsigned number;
};
bool mark_of_hydra(SharedMark& mark);

// Fills the header's launch and launcher.
void describe_launch(format::Header& header, const World& world, const ProcessStat& self);

// Rank and size by the launcher's environment; used where MPI has no world, and to know rank 0 before it has one.
struct LaunchRank {
    bool known;
    unsigned rank, size, local_rank;
};
LaunchRank rank_by_launcher();

// The world of a job without MPI: the launcher's word, unless it knows fewer processes than there are; then `rank` and
// `size`, as the program initialised a communicator.
World world_without_mpi(unsigned rank, unsigned size, const char* library);

// Whether the launcher started ranks on other nodes, too, as far as it says.
bool spans_nodes();

}  // namespace mpiprof
