// Where the ranks of a job ran and under whose settings: the cores each was allowed, how busy it kept them, its
// devices, what its node has, and the variables that MPI, NCCL or a launcher read. merge/facts makes it; sections ask.
// What is not known is empty, never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/model/network.h"
#include "report/model/number_list.h"
#include "report/model/sorted.h"
#include "report/model/usage.h"

namespace mpiprof::report {

struct RankPlace {
    std::uint32_t rank = 0;
    std::uint32_t cpus = 0;          // index into Placement::cpu_lists: allowed at MPI_Init
    std::uint32_t memory_nodes = 0;  // the same of NUMA nodes
    std::uint32_t environment = 0;   // index into Placement::environments
    std::optional<std::uint32_t> cpu_at_start{};
    std::optional<double> cores_busy{};        // CPU time / elapsed, since MPI_Init
    std::optional<double> pushed_off_per_s{};  // involuntary context switches
    std::uint64_t span_ns = 0;                 // over which these were measured
    std::uint64_t throttled_ns = 0;            // its cgroup was kept from the processors
    std::uint64_t memory_limit = 0;            // of its cgroup, bytes; 0 = none or not known
    std::uint64_t max_resident_bytes = 0;
    AllowedUse allowed{};
    std::optional<RankNetwork> network{};
};

struct NumaNode {
    std::uint32_t number = 0;
    NumberList cpus;
    bool operator==(const NumaNode&) const = default;
};
struct Device {
    std::string name;  // "mlx5_0"; of a GPU its bus address
    std::optional<std::uint32_t> numa_node{};
    std::string rate{};
    std::string pci_path{};  // from the processor's bridge to the device: "pci0000:00/0000:00:01.0/0000:01:00.0"
    struct NvLinks {
        std::string to;  // the bus address of a GPU; empty: a switch
        std::uint32_t links = 0;
    };
    std::vector<NvLinks> nvlinks{};  // of a GPU
    // Where exactly it is plugged in makes no other kind of node.
    bool operator==(const Device& other) const {
        return name == other.name && numa_node == other.numa_node && rate == other.rate;
    }
};
// What a node counted while the job ran, of all that ran on it.
struct NodeUse {
    std::optional<double> joules{};              // of its processors and memory, or all of it where it tells that
    std::optional<double> accelerator_joules{};  // of that
    std::vector<std::pair<std::string, std::uint64_t>> sent{}, received{};  // device and bytes, by device
    double seconds = 0;                                                     // over which it counted
    std::vector<PortEvents> events{};                                       // as the profile has them
};
struct NodeFacts {
    NodeUse use{};
    std::string processor;
    NumberList cpus;
    std::vector<NumaNode> numa_nodes;  // by number; those without processors are left out
    std::vector<Device> gpus;          // by bus address
    std::vector<Device> adapters;      // by name
    std::vector<Port> ports;           // of adapters, by name and number
    std::vector<Interface> interfaces;
    std::vector<std::pair<std::string, std::string>> verbs;  // "uverbs0" and whose it is
    // `use` is no trait of a node, and links may go down.
    bool operator==(const NodeFacts& other) const {
        return processor == other.processor && cpus == other.cpus && numa_nodes == other.numa_nodes &&
               gpus == other.gpus && adapters == other.adapters;
    }

    bool is_known() const { return *this != NodeFacts{}; }
};

// A variable of the environment, and who has which value. The first value is that of most ranks (of equals the one of
// the lowest rank); its ranks are all that no other value names.
struct VariableValue {
    std::optional<std::string> value;  // empty: not set
    std::uint32_t count = 0;
    std::vector<std::uint32_t> ranks{};  // sorted; of the first value none
};
struct Variable {
    std::string name;
    std::vector<VariableValue> values{};
};

struct Placement {
    std::vector<NumberList> cpu_lists{NumberList{}};  // [0] = not known
    std::vector<RankPlace> ranks;                     // sorted; only ranks that say where they ran
    std::vector<NodeFacts> nodes;                     // as Job::nodes
    std::vector<Variable> variables;                  // by name
    std::vector<std::string> network_libraries;       // by the bits of RankNetwork::libraries
    // For each variable the value that a rank has, as an index into its values; ranks mostly share one.
    std::vector<std::vector<std::uint32_t>> environments{{}};

    const NumberList& cpus_of(const RankPlace& rank) const { return cpu_lists[rank.cpus]; }
    const RankPlace* find(std::uint32_t rank) const { return find_rank(ranks, rank); }
    const std::string* variable_of(const RankPlace& rank, std::string_view name) const;
};

}  // namespace mpiprof::report
