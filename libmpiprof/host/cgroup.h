// What the cgroup of this process allows it, in version 1 and 2. At start and at the end; not found is 0.
#pragma once

#include <cstdint>

namespace mpiprof {

// How long the processor was withheld since the cgroup began, and its memory limit in bytes (0: none, or not known).
struct CgroupUse {
    std::uint64_t throttled_us;
    std::uint64_t memory_limit;
};
CgroupUse cgroup_use();

}  // namespace mpiprof
