// How two devices of a node are connected, worked out from where they are plugged in. For the section `placement`.
#pragma once

#include <cstdint>

#include "report/model/placement.h"

namespace mpiprof::report {

enum class Connection : std::uint8_t { unknown, itself, one_switch, switches, host_bridge, numa_node, system };

Connection connection(const Device& a, const Device& b, const NodeFacts& node);

}  // namespace mpiprof::report
