// Where this process runs and under what settings of others: cores and memory it may use, what the node has (NUMA nodes,
// GPUs, network adapters), the variables that MPI libraries read. Into the profile as facts, at start; the report judges.
// Reads /proc, /sys and the environment; asks no daemon and runs no program.
#pragma once

#include "libmpiprof/record/image.h"

namespace mpiprof {

void record_place(Image& image, bool describes_node);
// Environment variables that MPI, NCCL and their launchers read; values that look like secrets are masked.
void record_environment(Image& image);

// A fact learned elsewhere, such as by asking the MPI library.
void record_fact(Image& image, format::FactKind kind, const char* name, const char* value);

// What the cgroup of this process says: how long the processor was withheld since the cgroup began, and its memory limit
// in bytes (0 = none, or not known).
struct CgroupUse {
    std::uint64_t throttled_us;
    std::uint64_t memory_limit;
};
CgroupUse cgroup_use();

}  // namespace mpiprof
