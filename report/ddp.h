// The texts of PyTorch's DDP benchmark of several jobs: the table and the file of a sweep, and the comparison of two.
// For main; of one job text and export do it by themselves.
#pragma once

#include "report/options.h"

namespace mpiprof::report {

// Whether these options ask for it.
bool wants_ddp_of_several(const Options& options);
int ddp_of_several(const Options& options);
int ddp_diff(const Options& options);  // diff --layout ddp

}  // namespace mpiprof::report
