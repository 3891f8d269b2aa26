// What a node's own counters say: energy and traffic of all that ran on it. A piece of FactsPart, which calls it.
#pragma once

#include <span>

#include "report/model/placement.h"
#include "report/model/profile.h"

namespace mpiprof::report {

// Names as libmpiprof/host/node_counters.cpp writes them.
NodeUse use_of(std::span<const NodeCounter> counters, double seconds);

}  // namespace mpiprof::report
