// Launches that no launcher gave a name (Kubernetes, DeepSpeed or Ray start a training on each node by itself): each
// is known by the process that started it, so that every node looks like a launch of its own. They are one where ranks
// of them were members of one communicator of NCCL. job_dir asks, once it has grouped all files.
#pragma once

#include <vector>

#include "report/read/launch.h"

namespace mpiprof::report {

// Reads the profiles of launches that may be parts of one, and no others.
void join_launches(std::vector<Launch>& launches, unsigned threads);

}  // namespace mpiprof::report
