// What the rules must know of single MPI functions and a profile's dictionary does not say. For report/analysis, which
// names no function itself; a function that is like one of these is one more name here.
#pragma once

#include "report/model/profile.h"

namespace mpiprof::report {

// Each rank gets something of all lower ones: Scan and Exscan.
bool is_prefix(const Call& call);
// A lock of a window, or what goes on at its target.
bool is_passive_target(const Call& call);
// With processes that may belong to another job, or do not run yet.
bool meets_other_processes(const Call& call);
bool starts_processes(const Call& call);

}  // namespace mpiprof::report
