// By the names that libmpiprof/host/node_counters.cpp writes.
#include "report/merge/node_counts.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "libmpiprof/format/facts.h"
#include "libmpiprof/format/network.h"

namespace mpiprof::report {
namespace {

// RAPL's domains overlap: a package has its cores in it, and psys and the -mmio twins count packages once more.
bool counts_once(std::string_view domain) {
    if (domain.find("mmio") != std::string_view::npos) return false;
    const std::string_view label =
        domain.substr(domain.rfind(':') == std::string_view::npos ? 0 : domain.rfind(':') + 1);
    return label.starts_with("package") || label == "dram";
}

// "mlx5_0/1.symbol_error"; the name of an interface may have a dot.
void add_events(NodeUse& use, std::string_view name, const NodeCounter& counter) {
    const std::size_t dot = name.rfind('.');
    if (dot == name.npos) return;
    use.events.push_back(
        {std::string(name.substr(0, dot)), std::string(name.substr(dot + 1)), counter.value, *counter.events});
}

}  // namespace

NodeUse node_use_of(std::span<const NodeCounter> counters, double seconds) {
    constexpr std::string_view energy = "energy.", link = "link.", port = "port.";
    NodeUse use{.seconds = seconds};
    std::optional<double> whole, parts;
    for (const NodeCounter& counter : counters) {
        const std::string_view name = counter.name;
        const double joules = static_cast<double>(counter.value) / 1e6;
        if (name == format::facts::energy_node)
            whole = joules;
        else if (name == format::facts::energy_accelerators)
            use.accelerator_joules = joules;
        else if (name.starts_with(energy) && counts_once(name.substr(energy.size())))
            parts = parts.value_or(0) + joules;
        if (name.starts_with(port) && counter.events) add_events(use, name.substr(port.size()), counter);
        if (!name.starts_with(link) || name.size() < link.size() + 4) continue;
        const std::string device(name.substr(link.size(), name.size() - link.size() - 3));
        if (name.ends_with(".tx")) use.sent.emplace_back(device, counter.value);
        if (name.ends_with(".rx")) use.received.emplace_back(device, counter.value);
    }
    use.joules = whole ? whole : parts;
    std::sort(use.sent.begin(), use.sent.end());
    std::sort(use.received.begin(), use.received.end());
    return use;
}

}  // namespace mpiprof::report
