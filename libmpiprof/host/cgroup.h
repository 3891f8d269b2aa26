// What the cgroup of this process allows it, in version 1 and 2. At start and at the end; not found is 0.
#pragma once

#include "libmpiprof/host/measurement.h"

namespace mpiprof {

// How long the processor was withheld since the cgroup began, and its memory limit in bytes (0: none, or not known).
class CgroupUse {
  public:
    static void start(const Measured& of);
    static void refresh(const Measured&) {}
    static void end(const Measured& of);
};

}  // namespace mpiprof
