// Where this process runs: cores and memory it may use, and what the node has (NUMA nodes, GPUs, network adapters).
// Into the profile as facts, at start; the report judges. Reads /proc and /sys; asks no daemon and runs no program.
#pragma once

#include "libmpiprof/record/image.h"

namespace mpiprof {

// `describes_node`: this rank is the one that says what the node has.
void record_place(Image& image, bool describes_node);

// For each entry of `directory` where its link leads in the tree of PCI: "pci0000:00/0000:00:01.0/0000:01:00.0", from
// the bridge of the processor down to the device, as the fact <kind>.<entry>.
void record_pci_paths(Image& image, const char* directory, const char* kind, const char* pattern);

}  // namespace mpiprof
