// What the kernel says that this process has used: processor time, memory, page faults, blocks, context switches. Read
// by getrusage, into the header of the profile.
#pragma once

#include "libmpiprof/host/measurement.h"

namespace mpiprof {

class ResourceUse {
  public:
    static void start(const Measured& of);
    static void refresh(const Measured& of);
    static void end(const Measured& of) { refresh(of); }
};

}  // namespace mpiprof
