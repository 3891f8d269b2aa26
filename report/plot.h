// `mpiprof-report plot`: what several runs show, as a picture in a file.
#pragma once

#include "report/options.h"

namespace mpiprof::report {

// The exit code: 2 where the file's name ends in no format that can be written here, 3 where there is nothing to draw.
int plot(const Options& options);

}  // namespace mpiprof::report
