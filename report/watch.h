// `mpiprof-report watch`: the numbers of a running job, again and again, from its files alone, until it ends.
#pragma once

#include "report/options.h"

namespace mpiprof::report {

int watch(const Options& options);

}  // namespace mpiprof::report
