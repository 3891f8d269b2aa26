// `mpiprof-report doctor PROGRAM`: whether a program can be profiled by a preload, what will be seen of it, and what
// stands in the way. It reads no profile and runs nothing of the program.
#pragma once

#include "report/options.h"

namespace mpiprof::report {

// Exit code 1: a preload does not reach it, or sees nothing of MPI and NCCL.
int doctor(const Options& options);

}  // namespace mpiprof::report
