// The estimate: ranks are grouped by heavy-edge matching (in each round the groups that exchange most become one, as
// long as it fits a node), groups are packed into nodes by size, and pairs of ranks are swapped while that keeps more
// inside (Kernighan and Lin's improvement step). It is no optimum, and knows bytes alone.
#include "report/analysis/peer_places.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "report/analysis/placed_nodes.h"

namespace mpiprof::report {
namespace {

constexpr std::uint64_t most_work = 500'000'000;  // of a pass of swaps, at the very worst; beyond it there is none
constexpr unsigned most_passes = 8;

struct Edge {
    std::uint32_t a, b;  // a < b
    std::uint64_t bytes;
};

// The job as a graph of its ranks, numbered from 0 in the order of their ranks, and the room that each node has.
struct Graph {
    std::vector<Edge> edges;
    std::vector<std::vector<std::pair<std::uint32_t, std::uint64_t>>> neighbours;  // and the bytes to and from each
    std::vector<std::uint32_t> room;
    std::uint64_t bytes = 0;

    std::uint64_t between(std::uint32_t a, std::uint32_t b) const {
        for (const auto& [other, weight] : neighbours[a])
            if (other == b) return weight;
        return 0;
    }
    std::uint64_t to_node(std::uint32_t rank, std::uint32_t node, const std::vector<std::uint32_t>& node_of) const {
        std::uint64_t sum = 0;
        for (const auto& [other, weight] : neighbours[rank])
            if (node_of[other] == node) sum += weight;
        return sum;
    }
};

// Edges between the groups of what they join; what stays inside a group is left out.
std::vector<Edge> between_groups(const std::vector<Edge>& edges, const std::vector<std::uint32_t>& group_of) {
    std::vector<Edge> all, sums;
    for (const Edge& edge : edges) {
        const auto [a, b] = std::minmax(group_of[edge.a], group_of[edge.b]);
        if (a != b) all.push_back({a, b, edge.bytes});
    }
    std::sort(all.begin(), all.end(),
              [](const Edge& x, const Edge& y) { return std::tie(x.a, x.b) < std::tie(y.a, y.b); });
    for (const Edge& edge : all) {
        if (sums.empty() || sums.back().a != edge.a || sums.back().b != edge.b) sums.push_back({edge.a, edge.b, 0});
        sums.back().bytes += edge.bytes;
    }
    return sums;
}

Graph graph_of(const Job& job, const std::vector<std::uint32_t>& index_of, std::size_t ranks, std::size_t nodes) {
    Graph graph;
    std::vector<Edge> edges;
    for (const PeerPair& pair : job.peers.pairs)
        if (pair.bytes() != 0) edges.push_back({pair.from, pair.to, pair.bytes()});
    graph.edges = between_groups(edges, index_of);
    graph.neighbours.resize(ranks);
    graph.room.assign(nodes, 0);
    for (const Edge& edge : graph.edges) {
        graph.neighbours[edge.a].push_back({edge.b, edge.bytes});
        graph.neighbours[edge.b].push_back({edge.a, edge.bytes});
        graph.bytes += edge.bytes;
    }
    return graph;
}

Arrangement rated(std::string name, const Graph& graph, const std::vector<std::uint32_t>& node_of) {
    std::uint64_t inside = 0;
    for (const Edge& edge : graph.edges)
        if (node_of[edge.a] == node_of[edge.b]) inside += edge.bytes;
    return {.name = std::move(name),
            .share_inside = static_cast<double>(inside) / static_cast<double>(graph.bytes),
            .bytes_between = graph.bytes - inside};
}

std::vector<std::uint32_t> in_blocks(const Graph& graph) {
    std::vector<std::uint32_t> node_of;
    for (std::uint32_t node = 0; node < graph.room.size(); ++node)
        node_of.insert(node_of.end(), graph.room[node], node);
    return node_of;
}

std::vector<std::uint32_t> in_turn(const Graph& graph) {
    std::vector<std::uint32_t> node_of, room = graph.room;
    std::uint32_t node = 0;
    while (node_of.size() < graph.neighbours.size()) {
        if (room[node] != 0) {
            --room[node];
            node_of.push_back(node);
        }
        node = (node + 1) % static_cast<std::uint32_t>(room.size());
    }
    return node_of;
}

// Groups of ranks, none larger than a node: in each round those that exchange most become one, two by two.
std::vector<std::vector<std::uint32_t>> groups_of(const Graph& graph) {
    const std::uint32_t largest = *std::max_element(graph.room.begin(), graph.room.end());
    std::vector<std::vector<std::uint32_t>> groups(graph.neighbours.size());
    std::vector<std::uint32_t> group_of(groups.size());
    for (std::uint32_t rank = 0; rank < groups.size(); ++rank) groups[group_of[rank] = rank] = {rank};
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        std::vector<Edge> edges = between_groups(graph.edges, group_of);
        std::stable_sort(edges.begin(), edges.end(), [](const Edge& x, const Edge& y) { return x.bytes > y.bytes; });
        std::vector<bool> is_taken(groups.size());
        for (const Edge& edge : edges) {
            if (is_taken[edge.a] || is_taken[edge.b] || groups[edge.a].size() + groups[edge.b].size() > largest)
                continue;
            is_taken[edge.a] = is_taken[edge.b] = has_changed = true;
            for (const std::uint32_t rank : groups[edge.b]) group_of[rank] = edge.a;
            groups[edge.a].insert(groups[edge.a].end(), groups[edge.b].begin(), groups[edge.b].end());
            groups[edge.b].clear();
        }
    }
    std::erase_if(groups, [](const auto& group) { return group.empty(); });
    std::stable_sort(groups.begin(), groups.end(), [](const auto& x, const auto& y) { return x.size() > y.size(); });
    return groups;
}

// Each group goes where it fits best; what fits nowhere is split.
std::vector<std::uint32_t> packed(const Graph& graph) {
    std::vector<std::uint32_t> node_of(graph.neighbours.size()), room = graph.room;
    for (const auto& group : groups_of(graph)) {
        std::uint32_t best = 0;
        for (std::uint32_t node = 1; node < room.size(); ++node) {
            const bool fits = room[node] >= group.size(), best_fits = room[best] >= group.size();
            if (fits != best_fits ? fits : fits ? room[node] < room[best] : room[node] > room[best]) best = node;
        }
        for (const std::uint32_t rank : group) {
            while (room[best] == 0) best = (best + 1) % static_cast<std::uint32_t>(room.size());
            --room[best];
            node_of[rank] = best;
        }
    }
    return node_of;
}

// Swaps each rank with the one of another node that gains most by it. False: nobody gains any more.
bool swap_ranks(const Graph& graph, std::vector<std::uint32_t>& node_of) {
    std::vector<std::vector<std::uint32_t>> ranks_of(graph.room.size());
    for (std::uint32_t rank = 0; rank < node_of.size(); ++rank) ranks_of[node_of[rank]].push_back(rank);
    bool has_changed = false;
    for (std::uint32_t rank = 0; rank < node_of.size(); ++rank) {
        const std::uint32_t here = node_of[rank];
        const auto inside = static_cast<std::int64_t>(graph.to_node(rank, here, node_of));
        std::map<std::uint32_t, std::int64_t> to;
        for (const auto& [other, weight] : graph.neighbours[rank])
            to[node_of[other]] += static_cast<std::int64_t>(weight);
        to.erase(here);
        std::int64_t most = 0;
        std::uint32_t best = rank;
        for (const auto& [there, bytes] : to) {
            if (bytes <= inside) continue;
            for (const std::uint32_t other : ranks_of[there]) {
                const std::int64_t gain = bytes - inside +
                                          static_cast<std::int64_t>(graph.to_node(other, here, node_of)) -
                                          static_cast<std::int64_t>(graph.to_node(other, there, node_of)) -
                                          2 * static_cast<std::int64_t>(graph.between(rank, other));
                if (gain > most) most = gain, best = other;
            }
        }
        if (best == rank) continue;
        const std::uint32_t there = node_of[best];
        *std::find(ranks_of[here].begin(), ranks_of[here].end(), rank) = best;
        *std::find(ranks_of[there].begin(), ranks_of[there].end(), best) = rank;
        std::swap(node_of[rank], node_of[best]);
        has_changed = true;
    }
    return has_changed;
}

void improve(const Graph& graph, std::vector<std::uint32_t>& node_of) {
    const std::uint64_t largest = *std::max_element(graph.room.begin(), graph.room.end());
    // Who talks to everybody is looked through once for each partner and each rank of its node.
    std::uint64_t work = 0;
    for (const Edge& edge : graph.edges)
        work += largest * (graph.neighbours[edge.a].size() + graph.neighbours[edge.b].size());
    if (work > most_work) return;
    for (unsigned pass = 0; pass < most_passes && swap_ranks(graph, node_of); ++pass) continue;
}

}  // namespace

std::string_view name_of(Nearness nearness) {
    switch (nearness) {
        case Nearness::itself:
            return "itself";
        case Nearness::numa_node:
            return "same NUMA node";
        case Nearness::node:
            return "same node";
        case Nearness::other_node:
            return "other node";
        case Nearness::unknown:
            break;
    }
    return "not known";
}

RankPlaces::RankPlaces(const Job& job) : job_(job) {
    for (const RankPlace& place : job.placement.ranks) {
        const auto node = node_of(place.rank);
        if (!node || *node >= job.placement.nodes.size()) continue;
        const NodeFacts& facts = job.placement.nodes[*node];
        const auto numa = numa_nodes_of(facts, job.placement.cpus_of(place));
        if (facts.numa_nodes.size() > 1 && numa.size() == 1) numa_node_of_[place.rank] = numa.front();
    }
}

std::optional<std::uint32_t> RankPlaces::node_of(std::uint32_t rank) const {
    const Rank* known = job_.find(rank);
    return known && known->has_profile ? std::optional(known->node) : std::nullopt;
}

std::optional<std::uint32_t> RankPlaces::numa_node_of(std::uint32_t rank) const {
    const auto found = numa_node_of_.find(rank);
    return found != numa_node_of_.end() ? std::optional(found->second) : std::nullopt;
}

Nearness RankPlaces::between(std::uint32_t a, std::uint32_t b) const {
    if (a == b) return Nearness::itself;
    const auto node_a = node_of(a), node_b = node_of(b);
    if (!node_a || !node_b) return Nearness::unknown;
    if (*node_a != *node_b) return Nearness::other_node;
    const auto numa_a = numa_node_of(a), numa_b = numa_node_of(b);
    return numa_a && numa_b && *numa_a == *numa_b ? Nearness::numa_node : Nearness::node;
}

std::vector<Arrangement> arrangements(const Job& job) {
    if (job.profiles() != job.size || job.nodes.size() < 2)
        return {};  // a damaged file may speak of a world of billions
    std::vector<std::uint32_t> node_of, index_of(job.size);
    std::uint32_t nodes = 0;
    for (const Rank& rank : job.ranks) {
        if (rank.rank >= job.size || !rank.has_profile) return {};
        index_of[rank.rank] = static_cast<std::uint32_t>(node_of.size());
        node_of.push_back(rank.node);
        nodes = std::max(nodes, rank.node + 1);
    }
    Graph graph = graph_of(job, index_of, node_of.size(), nodes);
    if (graph.bytes == 0) return {};
    for (const std::uint32_t node : node_of) ++graph.room[node];
    std::vector<std::uint32_t> best = packed(graph), other = node_of;
    improve(graph, best);
    improve(graph, other);
    if (rated("", graph, other).share_inside > rated("", graph, best).share_inside) best = other;
    return {rated("as it ran", graph, node_of), rated("consecutive ranks on each node", graph, in_blocks(graph)),
            rated("ranks to the nodes in turn", graph, in_turn(graph)),
            rated("grouped by what they exchange", graph, best)};
}

}  // namespace mpiprof::report
