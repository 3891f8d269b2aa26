// `mpiprof-report hang --until-stuck 10m`: looks at a running job from its files until it ends, or until it has hung
// for so long. For job scripts, which then see why and may end the job; it touches nothing itself.
#pragma once

#include "report/options.h"

namespace mpiprof::report {

int until_stuck(const Options& options);

}  // namespace mpiprof::report
