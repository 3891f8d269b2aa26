// `mpiprof-report scaling`: times of one program at several sizes, from jobs, pairs or files of them.
#pragma once

#include "report/compare/scaling_tables.h"
#include "report/options.h"

namespace mpiprof::report {

// The exit code: 2 where a word is no operand or a run has no such time, 3 where a directory has no profile.
int scaling(const Options& options);

// The same up to what is shown, for plot.
int read_scaling(const Options& options, ScalingReport& report);

}  // namespace mpiprof::report
