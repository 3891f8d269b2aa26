// Another profiler plugin of NCCL's behind ours (MPIPROF_NCCL_PLUGIN): NCCL takes one, and a site's image may ship its
// own. It is told what it would be told without us, and its handles are those that NCCL sees. Used by profiler.cpp when
// NCCL asks for a version of the interface.
#pragma once

#include "libmpiprof/nccl/profiler_interface.h"

namespace mpiprof::nccl {

// What NCCL is given for this version of its interface: `ours`, or a table that tells both. Null: the other plugin does
// not speak it but an older one, for which NCCL asks next.
interface::Plugin* with_second_plugin(interface::Plugin& ours, int version);

// Where the one that was named could not be had: into the profile, and rank 0 says so.
void note_missing_plugin(int rank);

}  // namespace mpiprof::nccl
