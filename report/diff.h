// `mpiprof-report diff`: what differs between two jobs, or between two sets of repeats of them.
#pragma once

#include "report/compare/difference.h"
#include "report/options.h"

namespace mpiprof::report {

// The exit code: 1 where --fail-on or --fail-on-point fails, 2 where the command line does not name two sides, 3 where
// there is no profile, or --fail-on cannot tell.
int diff(const Options& options);

// The same up to what is shown, for plot.
struct ReadSides {
    Side a, b;
    bool is_complete = true;  // every rank of every job was there to its end
};
int read_sides(const Options& options, ReadSides& sides);

}  // namespace mpiprof::report
