// How far the ranks that talk to each other are apart, and how much of what they exchange other placements would keep
// inside nodes. For the section `peers`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

enum class Nearness : std::uint8_t { itself, numa_node, node, other_node, unknown };
std::string_view name_of(Nearness nearness);

class RankPlaces {
  public:
    explicit RankPlaces(const Job& job);

    std::optional<std::uint32_t> node_of(std::uint32_t rank) const;
    // Its NUMA node, if all its cores are of one, and the node has several.
    std::optional<std::uint32_t> numa_node_of(std::uint32_t rank) const;
    Nearness between(std::uint32_t a, std::uint32_t b) const;
    bool knows_numa_nodes() const { return !numa_node_of_.empty(); }

  private:
    const Job& job_;
    std::unordered_map<std::uint32_t, std::uint32_t> numa_node_of_;  // by rank
};

// A way to spread the ranks over the nodes that the job had, each with as many ranks as it had.
struct Arrangement {
    std::string name;
    double share_inside = 0;  // of the bytes between different ranks
    std::uint64_t bytes_between = 0;
};

// As it ran first; empty where there is nothing to choose: one node, ranks whose node is not known, no bytes.
std::vector<Arrangement> arrangements(const Job& job);

}  // namespace mpiprof::report
