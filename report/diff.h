// `mpiprof-report diff`: what differs between two jobs, or between two sets of repeats of them.
#pragma once

#include "report/options.h"

namespace mpiprof::report {

// The exit code: 1 where --fail-on or --fail-on-point fails, 2 where the command line does not name two sides, 3 where
// there is no profile, or --fail-on cannot tell.
int diff(const Options& options);

}  // namespace mpiprof::report
