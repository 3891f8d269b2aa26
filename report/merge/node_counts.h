// What a node's own counters say: energy and traffic of all that ran on it. For the part `facts`, of the one profile
// that describes its node.
#pragma once

#include <span>

#include "report/model/network.h"
#include "report/model/placement.h"

namespace mpiprof::report {

// `seconds`: over which they counted.
NodeUse node_use_of(std::span<const NodeCounter> counters, double seconds);

}  // namespace mpiprof::report
