// How ranks reached other nodes, and what the network ports of a node are and count. Parts of a Placement; read/ and
// merge/ fill them, analysis asks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mpiprof::report {

// Of one rank. Devices and libraries are what any look at the process found.
struct RankNetwork {
    std::uint64_t libraries = 0;  // bits of Placement::network_libraries
    std::uint32_t verbs = 0;      // bit n: /dev/infiniband/uverbs<n> was open
    std::uint32_t cxi = 0;        // /dev/cxi<n>
    std::uint32_t hfi1 = 0;       // /dev/hfi1_<n>
    std::uint32_t shared_memory = 0;
    std::uint32_t connections = 0;  // TCP, to other hosts
    std::uint64_t bytes = 0;        // sent through them
    std::uint64_t segments = 0;
    std::uint64_t retransmitted = 0;  // of these segments
    std::vector<std::string> interfaces{};
    std::vector<std::uint64_t> ends{};  // a number of each, the same at both ends; sorted

    bool has_fabric_open() const { return (verbs | cxi | hfi1) != 0; }
};

struct Port {
    std::string adapter;  // "mlx5_0"
    std::string number;   // "1"
    std::string state;    // "ACTIVE", "up"
    std::string kind;     // "InfiniBand", "Ethernet", "Slingshot"
    std::string rate;     // "200 Gb/sec (4X HDR)"

    bool is_up() const { return state == "ACTIVE" || state == "up"; }
};
struct Interface {
    std::string name;
    std::uint64_t mbit = 0;
};
// What a port counted while the job ran, of all that went through it.
struct PortEvents {
    enum class Kind : std::uint8_t { counted, stopped, unreadable };  // stopped: at least so many
    std::string port;                                                 // "mlx5_0/1", "eth0"
    std::string counter;                                              // "symbol_error"
    std::uint64_t count = 0;
    Kind kind = Kind::counted;
};

// How far a counter of the node went: energy of one of its parts in microjoules, bytes through a link, or
// events of a port, by all that ran there.
struct NodeCounter {
    std::string name;
    bool is_energy = false;
    std::uint64_t value = 0;
    std::optional<PortEvents::Kind> events{};  // it counts what happened at a network port
};

}  // namespace mpiprof::report
