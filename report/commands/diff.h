// `mpiprof-report diff`: what differs between two jobs, or between two sets of repeats of them.
#pragma once

#include "report/commands/operands.h"
#include "report/commands/options.h"
#include "report/compare/difference.h"

namespace mpiprof::report {

// Its two sides, for plot, too.
struct ReadSides {
    Side a, b;
    bool is_complete = true;  // every rank of every job was there to its end
};
// The exit code: 2 where a word is no job, 3 where there is no profile.
int read_sides(const Options& options, const Sides& words, ReadSides& sides);

}  // namespace mpiprof::report
