// How two devices of a node are connected, worked out from where they are plugged in. For the section `placement`.
#pragma once

#include <cstdint>

#include "report/model/placement.h"

namespace mpiprof::report {

enum class Connection : std::uint8_t { unknown, itself, one_switch, switches, host_bridge, numa_node, system };

// How many NVLinks lead from one GPU to the other, or from either to a switch that all are at; 0: none that is known
// of.
std::uint32_t nvlinks_between(const Device& a, const Device& b);

// By PCI alone.
Connection connection(const Device& a, const Device& b, const NodeFacts& node);

}  // namespace mpiprof::report
