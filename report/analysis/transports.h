// How the ranks of a job reached each other: adapters whose device files they had open, TCP connections, and which of
// these are proven to lead from rank to rank between nodes, because two ranks hold their ends. For the section
// `placement` and the rules of the network.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

// Ranks that did so alike.
struct Transport {
    std::vector<std::uint32_t> ranks;
    std::vector<std::string> devices;     // adapters that are open, by name where the node tells it
    std::vector<std::string> interfaces;  // that their connections leave by
    bool reaches_ranks = false;           // some connection of each leads to a rank on another node
    std::uint64_t libraries = 0;          // bits of Placement::network_libraries
    std::uint64_t connections = 0, bytes = 0, segments = 0, retransmitted = 0;  // of all of them

    double retransmitted_share() const {
        return segments ? static_cast<double>(retransmitted) / static_cast<double>(segments) : 0;
    }
};

// In the order of their first ranks; only ranks whose profile tells it.
std::vector<Transport> transports_of(const Job& job);

// Ranks that are connected by TCP to ranks on other nodes; sorted.
std::vector<std::uint32_t> reached_by_tcp(const Job& job);

// Adapters of which the rank had a device file open.
std::vector<std::string> open_devices(const RankNetwork& network, const NodeFacts& node);

// 0: not known.
std::uint64_t mbit_of(const NodeFacts& node, const std::string& interface);

}  // namespace mpiprof::report
