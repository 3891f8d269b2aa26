// What processes that are none of the job's ranks, or other virtual machines, did on the cores of some of its ranks.
// For the placement and for the rule about crowds.
#pragma once

#include <optional>
#include <vector>

#include "report/analysis/finding.h"
#include "report/analysis/placed_nodes.h"

namespace mpiprof::report {

// On the cores of those masks that have one of these ranks, each mask whole. Empty where any of it is not known, and
// where a rank of the job has no profile: it would be taken for one of the others.
std::optional<evidence::ForeignLoad> foreign_load_of(const Job& job, const std::vector<PlacedNode>& nodes,
                                                     const std::vector<std::uint32_t>& ranks);

// The rule: node by node, the ranks on whose cores others were busy for a tenth of the time, or stole as much.
void find_foreign_load(const Job& job, const std::vector<PlacedNode>& nodes, std::vector<Finding>& findings);

}  // namespace mpiprof::report
