// The two runs of seed 003 (tensorflow2_mnist.py under Horovod, on 16 CPUs and on 8 GPUs) as profiles: what rank 0
// did, call by call, and of the other ranks what the listing tells. The listings themselves are golden/seed003_*.txt.
#pragma once

#include <vector>

#include "tests/report/profile_builder.h"

namespace mpiprof::test {

std::vector<ProfileSpec> seed003_cpu();
std::vector<ProfileSpec> seed003_gpu();

}  // namespace mpiprof::test
