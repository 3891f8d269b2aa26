// Ranks by node, masks by their cores.
#include "report/analysis/placed_nodes.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace mpiprof::report {
namespace {

// Ranges of all masks by their beginning: what begins before the furthest end seen so far overlaps it. A mask's own
// ranges do not, so these are two masks.
void find_overlaps(PlacedNode& node) {
    struct At {
        NumberList::Range range;
        Mask* mask;
    };
    std::vector<At> ranges;
    for (Mask& mask : node.masks)
        for (const NumberList::Range& range : mask.cpus->ranges()) ranges.push_back({range, &mask});
    std::stable_sort(ranges.begin(), ranges.end(),
                     [](const At& a, const At& b) { return a.range.first < b.range.first; });
    const At* furthest = nullptr;
    for (const At& at : ranges) {
        if (furthest && at.range.first <= furthest->range.last) {
            if (!at.mask->overlaps) at.mask->overlaps = furthest->mask;
            if (!furthest->mask->overlaps) furthest->mask->overlaps = at.mask;
        }
        if (!furthest || at.range.last > furthest->range.last) furthest = &at;
    }
}

Distance distance(const NodeFacts& node, const NumberList& cpus, const std::optional<std::uint32_t>& numa_node) {
    const auto near = numa_nodes_of(node, cpus);
    if (!numa_node || near.empty() || node.numa_nodes.size() < 2) return Distance::unknown;
    const bool is_known = std::any_of(node.numa_nodes.begin(), node.numa_nodes.end(),
                                      [&](const NumaNode& numa) { return numa.number == *numa_node; });
    if (!is_known) return Distance::unknown;
    return std::find(near.begin(), near.end(), *numa_node) != near.end() ? Distance::near : Distance::far;
}

}  // namespace

const Mask* PlacedNode::mask_of(const RankPlace& rank) const {
    for (const Mask& mask : masks)
        if (mask.ranks.front()->cpus == rank.cpus) return &mask;
    return nullptr;
}

// Each rank read the same counters, at almost the same times.
std::optional<AllowedUse> others_on(const Mask& mask) {
    AllowedUse sum{.is_known = true};
    if (mask.overlaps) return std::nullopt;
    for (const RankPlace* rank : mask.ranks) {
        if (!rank->allowed.is_known) return std::nullopt;
        sum.idle += rank->allowed.idle / static_cast<double>(mask.ranks.size());
        sum.by_all += rank->allowed.by_all / static_cast<double>(mask.ranks.size());
        sum.stolen += rank->allowed.stolen / static_cast<double>(mask.ranks.size());
        sum.by_itself += rank->allowed.by_itself;
    }
    return sum;
}

std::vector<PlacedNode> placed_nodes(const Job& job) {
    std::vector<PlacedNode> nodes(job.nodes.size());
    std::vector<std::map<std::uint32_t, std::size_t>> mask_of(job.nodes.size());  // cpu list -> into masks
    for (const RankPlace& place : job.placement.ranks) {
        const Rank* rank = job.find(place.rank);
        if (!rank) continue;
        PlacedNode& node = nodes[rank->node];
        if (node.ranks.empty()) node.host = job.hosts[rank->host];
        node.ranks.push_back(&place);
        const NumberList& cpus = job.placement.cpus_of(place);
        if (cpus.empty()) continue;
        const auto [found, is_new] = mask_of[rank->node].try_emplace(place.cpus, node.masks.size());
        if (is_new) node.masks.push_back({.cpus = &cpus, .ranks = {}});
        node.masks[found->second].ranks.push_back(&place);
        ++node.bound;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].ranks.empty()) continue;
        nodes[i].node = static_cast<std::uint32_t>(i);
        nodes[i].facts = &job.placement.nodes[i];
        for (const Mask& mask : nodes[i].masks) nodes[i].cpus.add(*mask.cpus);
        find_overlaps(nodes[i]);
    }
    std::erase_if(nodes, [](const PlacedNode& node) { return node.ranks.empty(); });
    return nodes;
}

std::vector<std::uint32_t> numa_nodes_of(const NodeFacts& node, const NumberList& cpus) {
    std::vector<std::uint32_t> numbers;
    for (const NumaNode& numa : node.numa_nodes)
        if (numa.cpus.overlap(cpus) != 0) numbers.push_back(numa.number);
    return numbers;
}

Distance adapter_distance(const NodeFacts& node, const NumberList& cpus) {
    return node.adapters.size() == 1 ? distance(node, cpus, node.adapters.front().numa_node) : Distance::unknown;
}

std::optional<GivenGpu> gpu_of(const Placement& placement, const RankPlace& rank, const NodeFacts& node) {
    const std::string* visible = placement.variable_of(rank, "CUDA_VISIBLE_DEVICES");
    if (!visible) return std::nullopt;
    GivenGpu gpu;
    const char* const end = visible->data() + visible->size();
    const auto read = std::from_chars(visible->data(), end, gpu.number);
    if (read.ec != std::errc{} || read.ptr != end || gpu.number >= node.gpus.size()) return std::nullopt;
    gpu.numa_node = node.gpus[gpu.number].numa_node;
    gpu.distance = distance(node, placement.cpus_of(rank), gpu.numa_node);
    return gpu;
}

}  // namespace mpiprof::report
