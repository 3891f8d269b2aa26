// `mpiprof-report merge -o FILE`: the profiles of a launch as one file, which every command reads as it reads the
// directory.
#pragma once

#include "report/options.h"

namespace mpiprof::report {

int merge_files(const Options& options);

}  // namespace mpiprof::report
