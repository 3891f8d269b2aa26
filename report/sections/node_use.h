// Energy and network traffic of the nodes, as they count them themselves: of all that ran there, not of the job alone.
// For the section placement.
#pragma once

#include <span>

#include "report/analysis/placed_nodes.h"
#include "report/model/table.h"

namespace mpiprof::report {

// Without rows where no node tells.
Table node_use_table(std::span<const PlacedNode> nodes, bool is_for_screen);

}  // namespace mpiprof::report
