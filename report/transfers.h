// `mpiprof-report transfers`: how fast data moved between two ranks, message by message.
#pragma once

#include "report/options.h"

namespace mpiprof::report {

// The exit code: 2 where an option is wrong, 3 where a directory has no profile.
int transfers(const Options& options);

}  // namespace mpiprof::report
