// The job as people call it: the scheduler's number, or what the launcher makes of it. All ranks of the job have to
// come to the same answer, each by itself.
#pragma once

#include "libmpiprof/format/layout.h"
#include "libmpiprof/host/processes.h"

namespace mpiprof {

// Fills the header's job. `chosen`: the name that the user gave it; empty: none.
void describe_job(format::Header& header, const char* chosen, const ProcessStat& self);

// Fills the header's job_ids: what squeue, sacct, qstat and bjobs call the job and its step, whatever its name is.
void describe_job_ids(format::Header& header);

}  // namespace mpiprof
