// The nodes of a job with the cores that each of their ranks was allowed: who shares them, and how far the devices are.
// For the section `placement` and its rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

// Ranks of a node that may use the same cores.
struct Mask {
    const NumberList* cpus = nullptr;
    std::vector<const RankPlace*> ranks;
    const Mask* overlaps = nullptr;  // some other mask of the node that has cores of this one, too
};

struct PlacedNode {
    std::uint32_t node = 0;  // index into Job::nodes
    std::string host;
    const NodeFacts* facts = nullptr;
    std::vector<const RankPlace*> ranks;  // all that say anything
    std::vector<Mask> masks;              // of those that say where they may run, in the order of the ranks
    NumberList cpus;                      // all of these
    std::size_t bound = 0;                // how many ranks these are

    const Mask* mask_of(const RankPlace& rank) const;
};

// What processes other than the job's ranks did on the cores of a mask, in cores. Not known where masks overlap only
// partially, and of a rank that did not say it.
std::optional<AllowedUse> others_on(const Mask& mask);

std::vector<PlacedNode> placed_nodes(const Job& job);

// The NUMA nodes that have some of the cores.
std::vector<std::uint32_t> numa_nodes_of(const NodeFacts& node, const NumberList& cpus);

enum class Distance : std::uint8_t { unknown, near, far };

// To the only adapter of the node; not known with none, several, or one NUMA node.
Distance adapter_distance(const NodeFacts& node, const NumberList& cpus);

// The GPU that the rank was given, where CUDA_VISIBLE_DEVICES names one by its number: GPUs count in the order of their
// bus addresses.
struct GivenGpu {
    std::uint32_t number = 0;
    std::optional<std::uint32_t> numa_node;
    Distance distance = Distance::unknown;
};
std::optional<GivenGpu> gpu_of(const Placement& placement, const RankPlace& rank, const NodeFacts& node);

}  // namespace mpiprof::report
