// How far the GPUs and network adapters of a node are from each other, in the words of `nvidia-smi topo -m`. For the
// section `placement`.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "report/analysis/connections.h"
#include "report/analysis/placed_nodes.h"
#include "report/model/device_matrix.h"
#include "report/model/table.h"

namespace mpiprof::report {

std::string_view name_of(Connection connection);  // "PIX"

// On a screen a matrix for each kind of node that has several devices, the first few kinds; as data a row for each pair
// of devices.
std::vector<Table> topology_tables(std::span<const PlacedNode> nodes, bool is_for_screen);

// The same as a tool of the node said it, NVLinks included.
Table told_topology_table(const DeviceMatrix& matrix, bool is_for_screen);

}  // namespace mpiprof::report
