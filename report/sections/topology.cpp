// Matrices and pairs of devices.
#include "report/sections/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t most_devices = 64;  // of a node; more come from damaged files alone
constexpr std::size_t kinds_on_screen = 2;
constexpr std::size_t gpus_beside_each_other = 8;  // more are shown where there is room

struct Named {
    std::string name;  // GPUs by their number
    const Device* device;
    bool is_gpu;
};

std::vector<Named> devices_of(const NodeFacts& node) {
    std::vector<Named> devices;
    const auto has_room = [&](const Device& device) {
        return (!device.pci_path.empty() || !device.nvlinks.empty()) && devices.size() < most_devices;
    };
    for (std::size_t i = 0; i < node.gpus.size(); ++i)
        if (has_room(node.gpus[i])) devices.push_back({fmt::format("GPU{}", i), &node.gpus[i], true});
    for (const Device& adapter : node.adapters)
        if (has_room(adapter)) devices.push_back({adapter.name, &adapter, false});
    return devices;
}

struct Meaning {
    Connection connection;
    std::string_view name, text;
};
constexpr Meaning meanings[] = {
    {Connection::itself, "X", "itself"},
    {Connection::one_switch, "PIX", "one PCIe switch between them"},
    {Connection::switches, "PXB", "several PCIe switches"},
    {Connection::host_bridge, "PHB", "the processor's PCIe host bridge"},
    {Connection::numa_node, "NODE", "host bridges of one NUMA node"},
    {Connection::system, "SYS", "the link between NUMA nodes"},
    {Connection::unknown, "?", "not known"},
};

// "NV4", or what PCI says.
std::string connection_text(const Device& a, const Device& b, const NodeFacts& node) {
    if (const std::uint32_t links = nvlinks_between(a, b)) return fmt::format("NV{}", links);
    return std::string(name_of(connection(a, b, node)));
}

// "NV2: 2 NVLinks" and what else occurs.
std::string legend_of(const std::set<std::string>& occurring) {
    std::string legend;
    const auto add = [&](std::string_view name, std::string_view text) {
        legend += fmt::format("{}{}: {}", legend.empty() ? "" : "; ", name, text);
    };
    for (const Meaning& m : meanings)
        if (occurring.contains(std::string(m.name))) add(m.name, m.text);
    for (const std::string& name : occurring)
        if (name.starts_with("NV")) add(name, name == "NV1" ? "an NVLink" : name.substr(2) + " NVLinks");
    return legend;
}

std::string cores_beside(const NodeFacts& node, const Device& device) {
    for (const NumaNode& numa : node.numa_nodes)
        if (device.numa_node == numa.number) return numa.cpus.text();
    return "";
}

// Nodes that are alike have the connections of the first of them.
struct Kind {
    const PlacedNode* node;
    std::size_t nodes;
};

std::vector<Kind> kinds_of(std::span<const PlacedNode> nodes) {
    std::vector<Kind> kinds;
    for (const PlacedNode& node : nodes) {
        if (devices_of(*node.facts).size() < 2) continue;
        const auto known = std::find_if(kinds.begin(), kinds.end(),
                                        [&](const Kind& kind) { return *kind.node->facts == *node.facts; });
        if (known != kinds.end())
            ++known->nodes;
        else
            kinds.push_back({&node, 1});
    }
    return kinds;
}

// Like `nvidia-smi topo -m`, but where there is no room for the adapters' columns: their rows say it all the same.
Table matrix(const Kind& kind) {
    const PlacedNode& node = *kind.node;
    const std::vector<Named> devices = devices_of(*node.facts);
    using D = const Named&;
    const bool has_gpus = devices.front().is_gpu;
    std::vector<Field<Named>> fields{{{.id = "device", .title = "DEVICE"}, [](D d) { return d.name; }}};
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const int drop = devices[i].is_gpu ? (i < gpus_beside_each_other ? 0 : 3) : has_gpus ? 2 : 0;
        fields.push_back(
            {{.id = devices[i].name, .title = devices[i].name, .drop = drop},
             [&node, to = devices[i].device](D d) { return connection_text(*d.device, *to, *node.facts); }});
    }
    fields.push_back(
        {{.id = "cores", .title = "CORES", .drop = 1}, [&](D d) { return cores_beside(*node.facts, *d.device); }});
    fields.push_back({{.id = "numa_node", .title = "NUMA", .unit = Unit::rank, .drop = 1},
                      [](D d) { return d.device->numa_node ? Value(std::uint64_t{*d.device->numa_node}) : Value(); }});
    Table table = table_of("topology", fields, devices);
    table.title = kind.nodes == 1
                      ? fmt::format("HOW THE DEVICES OF NODE {} ARE CONNECTED", node.host)
                      : fmt::format("HOW THE DEVICES OF {} NODES LIKE {} ARE CONNECTED", kind.nodes, node.host);
    std::set<std::string> occurring;
    bool has_nvlinks = false;
    for (const Named& a : devices)
        for (const Named& b : devices) {
            occurring.insert(connection_text(*a.device, *b.device, *node.facts));
            has_nvlinks |= nvlinks_between(*a.device, *b.device) != 0;
        }
    table.notes.push_back(
        legend_of(occurring) +
        (has_nvlinks ? ". NVLinks from NVML, everything else from PCI addresses"
                     : ". From PCI addresses: they do not show NVLink (nvidia-smi topo -m on the node does)"));
    return table;
}

struct Pair {
    Kind kind;
    Named from, to;
};

Table pairs(const std::vector<Kind>& kinds) {
    std::vector<Pair> lines;
    for (const Kind& kind : kinds) {
        const std::vector<Named> devices = devices_of(*kind.node->facts);
        for (std::size_t i = 0; i < devices.size(); ++i)
            for (std::size_t k = i + 1; k < devices.size(); ++k) lines.push_back({kind, devices[i], devices[k]});
    }
    using P = const Pair&;
    return table_of(
        "topology",
        std::vector<Field<Pair>>{
            {{.id = "host", .title = {}}, [](P p) { return p.kind.node->host; }},
            {{.id = "nodes", .title = {}, .unit = Unit::count}, [](P p) { return std::uint64_t{p.kind.nodes}; }},
            {{.id = "device", .title = {}}, [](P p) { return p.from.name; }},
            {{.id = "other_device", .title = {}}, [](P p) { return p.to.name; }},
            {{.id = "connection", .title = {}},
             [](P p) { return connection_text(*p.from.device, *p.to.device, *p.kind.node->facts); }},
            {{.id = "pci_path", .title = {}}, [](P p) { return p.from.device->pci_path; }},
            {{.id = "other_pci_path", .title = {}}, [](P p) { return p.to.device->pci_path; }},
        },
        lines);
}

Table told_pairs(const DeviceMatrix& matrix) {
    Table table = bare_table(
        "told_topology", "",
        {{.id = "device", .title = {}}, {.id = "other_device", .title = {}}, {.id = "connection", .title = {}}});
    const auto& devices = matrix.devices;
    for (std::size_t i = 0; i < devices.size(); ++i)
        for (std::size_t k = i + 1; k < devices.size(); ++k)
            table.rows.push_back({devices[i].name, devices[k].name, devices[i].connections[k]});
    return table;
}

}  // namespace

Table told_topology_table(const DeviceMatrix& matrix, bool is_for_screen) {
    if (!is_for_screen) return told_pairs(matrix);
    using D = const DeviceMatrix::Device&;
    std::vector<Field<DeviceMatrix::Device>> fields{{{.id = "device", .title = "DEVICE"}, [](D d) { return d.name; }}};
    for (std::size_t i = 0; i < matrix.devices.size(); ++i) {
        const std::string& name = matrix.devices[i].name;
        const int drop = name.starts_with("GPU") ? (i < gpus_beside_each_other ? 0 : 3) : 2;
        fields.push_back({{.id = name, .title = name, .drop = drop}, [i](D d) { return d.connections[i]; }});
    }
    fields.push_back({{.id = "cores", .title = "CORES", .drop = 1}, [](D d) { return d.cores; }});
    if (std::ranges::any_of(matrix.devices, [](D d) { return !d.numa_node.empty(); }))
        fields.push_back({{.id = "numa_node", .title = "NUMA", .drop = 1}, [](D d) { return d.numa_node; }});
    Table table = table_of("told_topology", fields, matrix.devices);
    table.title = "HOW THE DEVICES ARE CONNECTED, BY " + matrix.source;
    std::set<std::string> occurring;
    for (const DeviceMatrix::Device& device : matrix.devices)
        occurring.insert(device.connections.begin(), device.connections.end());
    table.notes.push_back(legend_of(occurring));
    return table;
}

std::string_view name_of(Connection connection) {
    return std::find_if(std::begin(meanings), std::end(meanings) - 1,
                        [&](const Meaning& m) { return m.connection == connection; })
        ->name;
}

std::vector<Table> topology_tables(std::span<const PlacedNode> nodes, bool is_for_screen) {
    const std::vector<Kind> kinds = kinds_of(nodes);
    std::vector<Table> tables;
    if (kinds.empty()) return tables;
    if (!is_for_screen) return {pairs(kinds)};
    for (std::size_t i = 0; i < std::min(kinds.size(), kinds_on_screen); ++i) tables.push_back(matrix(kinds[i]));
    if (kinds.size() > kinds_on_screen)
        tables.back().notes.push_back(
            fmt::format("{} more kinds of nodes: placement --format csv", kinds.size() - kinds_on_screen));
    return tables;
}

}  // namespace mpiprof::report
