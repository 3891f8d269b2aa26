// `mpiprof-report explain RULE`: what a word in brackets behind a finding means. It reads no profile.
#pragma once

#include "report/options.h"

namespace mpiprof::report {

int explain(const Options& options);

}  // namespace mpiprof::report
