// `mpiprof-report check`: what is wrong with each file, a line each, and what there is of each launch.
#pragma once

#include "report/options.h"

namespace mpiprof::report {

// The exit code: 1 if something is damaged, 3 if there is nothing to check.
int check(const Options& options);

}  // namespace mpiprof::report
