// Of the section `placement`: how ranks reached other nodes, and what the network ports of the nodes counted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/analysis/placed_nodes.h"
#include "report/model/job.h"
#include "report/model/table.h"

namespace mpiprof::report {

// Sentences on a screen, a row for ranks that did alike as data.
Table transports_table(const Job& job, bool is_for_screen);

// What moved, of all nodes; on a screen those that moved most of each counter.
Table port_events_table(std::span<const PlacedNode> nodes, bool is_for_screen);

// "10 Gb/s"
std::string link_speed(std::uint64_t mbit);

}  // namespace mpiprof::report
