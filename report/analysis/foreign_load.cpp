// Of a mask the kernel counts whoever ran there; what the job's ranks and their children used of it is theirs.
#include "report/analysis/foreign_load.h"

#include <algorithm>

namespace mpiprof::report {
namespace {

void add(evidence::ForeignLoad& load, const Mask& mask, const AllowedUse& use) {
    load.by_others += std::max(0.0, use.by_all - use.by_itself);
    load.stolen += use.stolen;
    load.idle += use.idle;
    load.cores += mask.cpus->count();
}

}  // namespace

std::optional<evidence::ForeignLoad> foreign_load_of(const Job& job, const std::vector<PlacedNode>& nodes,
                                                     const std::vector<std::uint32_t>& ranks) {
    if (job.lacks_ranks()) return std::nullopt;
    evidence::ForeignLoad load;
    for (const PlacedNode& node : nodes)
        for (const Mask& mask : node.masks) {
            const bool is_asked = std::any_of(mask.ranks.begin(), mask.ranks.end(), [&](const RankPlace* place) {
                return std::binary_search(ranks.begin(), ranks.end(), place->rank);
            });
            if (!is_asked) continue;
            const auto use = others_on(mask);
            if (!use) return std::nullopt;
            add(load, mask, *use);
        }
    return load.cores != 0 ? std::optional(load) : std::nullopt;
}

void find_foreign_load(const Job& job, const std::vector<PlacedNode>& nodes, std::vector<Finding>& findings) {
    if (job.lacks_ranks()) return;
    Finding finding{
        .rule = Rule::foreign_load, .is_serious = true, .calls = {}, .ranks = {}, .nodes = {}, .evidence = {}};
    evidence::ForeignLoad all;
    for (const PlacedNode& node : nodes)
        for (const Mask& mask : node.masks) {
            const auto use = others_on(mask);
            evidence::ForeignLoad load;
            if (use) add(load, mask, *use);
            if (!use || !load.is_enough()) continue;
            add(all, mask, *use);
            for (const RankPlace* place : mask.ranks) finding.ranks.push_back(place->rank);
            if (finding.nodes.empty() || finding.nodes.back() != node.node) finding.nodes.push_back(node.node);
        }
    if (finding.ranks.empty()) return;
    std::sort(finding.ranks.begin(), finding.ranks.end());
    finding.evidence = all;
    findings.push_back(std::move(finding));
}

}  // namespace mpiprof::report
