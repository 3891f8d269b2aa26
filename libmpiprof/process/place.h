// Where this process runs and under what settings of others: cores and memory it may use, what the node has (NUMA
// nodes, GPUs, network adapters), the variables that MPI libraries read. Into the profile as facts, at start; the
// report judges. Reads /proc, /sys and the environment; asks no daemon and runs no program.
#pragma once

#include "libmpiprof/record/image.h"

namespace mpiprof {

void record_place(Image& image, bool describes_node);
// Environment variables that MPI, NCCL and their launchers read; values that look like secrets are masked.
void record_environment(Image& image);

// For each entry of `directory` where its link leads in the tree of PCI: "pci0000:00/0000:00:01.0/0000:01:00.0", from
// the bridge of the processor down to the device, as the fact <kind>.<entry>.
void record_pci_paths(Image& image, const char* directory, const char* kind, const char* pattern);

// A fact learned elsewhere, such as by asking the MPI library.
void record_fact(Image& image, format::FactKind kind, const char* name, const char* value);

// What the cgroup of this process says: how long the processor was withheld since the cgroup began, and its memory
// limit in bytes (0 = none, or not known).
struct CgroupUse {
    std::uint64_t throttled_us;
    std::uint64_t memory_limit;
};
CgroupUse cgroup_use();

}  // namespace mpiprof
