// The kernel shows each device as a path from the processor's bridge through the ports of switches. Two paths part at
// the bridge or switch that connects the devices.
#include "report/analysis/connections.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace mpiprof::report {
namespace {

std::vector<std::string_view> steps_of(std::string_view path) {
    std::vector<std::string_view> steps;
    while (!path.empty()) {
        steps.push_back(path.substr(0, path.find('/')));
        path.remove_prefix(std::min(path.size(), steps.back().size() + 1));
    }
    return steps;
}

std::uint32_t links_to(const Device& from, std::string_view to) {
    const auto found = std::find_if(from.nvlinks.begin(), from.nvlinks.end(),
                                    [&](const Device::NvLinks& links) { return links.to == to; });
    return found != from.nvlinks.end() ? found->links : 0;
}

}  // namespace

std::uint32_t nvlinks_between(const Device& a, const Device& b) {
    if (a.name == b.name) return 0;
    constexpr std::string_view by_switch;
    const std::uint32_t direct = std::max(links_to(a, b.name), links_to(b, a.name));
    return direct != 0 ? direct : std::min(links_to(a, by_switch), links_to(b, by_switch));
}

// Below the switch that two devices share, each has a port of it and itself; of two functions of one card there is no
// port.
Connection connection(const Device& a, const Device& b, const NodeFacts& node) {
    if (a.name == b.name) return Connection::itself;
    if (a.pci_path.empty() || b.pci_path.empty()) return Connection::unknown;
    const std::vector<std::string_view> from = steps_of(a.pci_path), to = steps_of(b.pci_path);
    const auto parted = std::mismatch(from.begin(), from.end(), to.begin(), to.end());
    const auto shared = parted.first - from.begin();
    if (shared == 1) return Connection::host_bridge;
    if (shared > 1)
        return std::max(from.end() - parted.first, to.end() - parted.second) <= 2 ? Connection::one_switch
                                                                                  : Connection::switches;
    if (a.numa_node && b.numa_node) return a.numa_node == b.numa_node ? Connection::numa_node : Connection::system;
    return node.numa_nodes.size() == 1 ? Connection::numa_node : Connection::unknown;
}

}  // namespace mpiprof::report
