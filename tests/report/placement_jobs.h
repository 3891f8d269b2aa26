// Jobs whose ranks run where a test says, for the tests of placement.
#pragma once

#include <vector>

#include "tests/report/profile_builder.h"

namespace mpiprof::test {

struct At {
    const char* cpus;
    const char* host = "nid1";
    double busy = 0.5;         // cores
    double pushed_off = 0;     // times a second
    double seconds = 10;       // that it ran
    double ran = 0;            // seconds by the account of the kernel; 0: it keeps none
    double waited = 0;         // seconds, by the same
    const char* threads = "";  // OMP_NUM_THREADS
    const char* gpu = "";      // CUDA_VISIBLE_DEVICES
    double throttled = 0;      // seconds
    double memory = 0.1;       // GiB
    double limit = 0;          // GiB
    double all_busy = -1;      // cores of those allowed, whoever ran there; below 0: not known
    double stolen = 0;         // cores
};

// One rank each, in this order, on nodes of two NUMA nodes of four cores, two GPUs beside each, the adapter beside the
// first.
std::vector<ProfileSpec> ranks_at(const std::vector<At>& places, const char* launcher = "Open MPI");

}  // namespace mpiprof::test
