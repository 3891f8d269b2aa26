// NCCL's profiler interface: NCCL opens this library as its plugin (process/invitation.h) and tells of each operation
// what it chose for it: algorithm, protocol, channels. So NCCL that is linked statically is seen, too, whose functions
// no preload can take. Called by NCCL from within its calls, from threads of its own and of CUDA's; never waits, and
// never says no.
#pragma once

#include "libmpiprof/base/basics.h"

namespace mpiprof::nccl {

// The program is about to make so many communicators through us. NCCL will tell of them, and their operations are
// counted where they are called; those of others are counted where NCCL tells of them, so that none is counted twice.
void expect_communicators(int n);

// A blocking call has just made this communicator, if NCCL told of it from within.
void link_communicator(Word handle);

}  // namespace mpiprof::nccl
