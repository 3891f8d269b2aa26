// Connections have numbers that are the same at both ends (format/layout.h, NetworkUse).
#include "report/analysis/transports.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace mpiprof::report {
namespace {

void add_numbered(std::vector<std::string>& devices, std::uint32_t numbers, const char* name) {
    for (unsigned n = 0; n < 32; ++n)
        if (numbers >> n & 1) devices.push_back(name + std::to_string(n));
}

}  // namespace

std::vector<std::string> open_devices(const RankNetwork& network, const NodeFacts& node) {
    std::vector<std::string> verbs, devices;
    add_numbered(verbs, network.verbs, "uverbs");
    for (std::string& file : verbs) {
        const auto found =
            std::find_if(node.verbs.begin(), node.verbs.end(), [&](const auto& known) { return known.first == file; });
        devices.push_back(found == node.verbs.end() ? std::move(file) : found->second);
    }
    add_numbered(devices, network.cxi, "cxi");
    // Omni-Path's adapters have a file of verbs, too, whose adapter is called so.
    for (unsigned n = 0; n < 32; ++n)
        if (const std::string name = "hfi1_" + std::to_string(n);
            network.hfi1 >> n & 1 && std::find(devices.begin(), devices.end(), name) == devices.end())
            devices.push_back(name);
    return devices;
}

std::vector<std::uint32_t> reached_by_tcp(const Job& job) {
    struct End {
        std::uint64_t connection;
        std::size_t place;
        std::uint32_t node;
    };
    const std::vector<RankPlace>& places = job.placement.ranks;
    std::vector<End> ends;
    for (std::size_t i = 0; i < places.size(); ++i)
        if (const Rank* rank = job.find(places[i].rank); rank && places[i].network)
            for (const std::uint64_t end : places[i].network->ends) ends.push_back({end, i, rank->node});
    std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.connection < b.connection; });
    std::vector<bool> is_reached(places.size());
    for (std::size_t i = 0; i + 1 < ends.size(); ++i)
        if (ends[i].connection == ends[i + 1].connection && ends[i].node != ends[i + 1].node)
            is_reached[ends[i].place] = is_reached[ends[i + 1].place] = true;
    std::vector<std::uint32_t> ranks;
    for (std::size_t i = 0; i < places.size(); ++i)
        if (is_reached[i]) ranks.push_back(places[i].rank);
    return ranks;
}

std::vector<Transport> transports_of(const Job& job) {
    const std::vector<std::uint32_t> reached = reached_by_tcp(job);
    std::vector<Transport> all;
    std::map<std::tuple<std::vector<std::string>, std::vector<std::string>, bool, std::uint64_t>, std::size_t> alike;
    for (const RankPlace& place : job.placement.ranks) {
        const Rank* rank = job.find(place.rank);
        if (!rank || !place.network) continue;
        const RankNetwork& network = *place.network;
        Transport one{.ranks = {},
                      .devices = open_devices(network, job.placement.nodes[rank->node]),
                      .interfaces = network.interfaces,
                      .reaches_ranks = std::binary_search(reached.begin(), reached.end(), place.rank),
                      .libraries = network.libraries};
        const auto [found, is_new] =
            alike.try_emplace({one.devices, one.interfaces, one.reaches_ranks, one.libraries}, all.size());
        if (is_new) all.push_back(std::move(one));
        Transport& to = all[found->second];
        to.ranks.push_back(place.rank);
        to.connections += network.connections;
        to.bytes += network.bytes;
        to.segments += network.segments;
        to.retransmitted += network.retransmitted;
    }
    return all;
}

std::uint64_t mbit_of(const NodeFacts& node, const std::string& interface) {
    const auto found = std::find_if(node.interfaces.begin(), node.interfaces.end(),
                                    [&](const Interface& known) { return known.name == interface; });
    return found == node.interfaces.end() ? 0 : found->mbit;
}

}  // namespace mpiprof::report
