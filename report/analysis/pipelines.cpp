// A graph of who sends to whom. One without a cycle in which each part has one source and one sink is a pipeline, of
// one dimension or two; trees have many sources or many sinks.
#include "report/analysis/pipelines.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "report/analysis/last_ranks.h"

namespace mpiprof::report {
namespace {

struct Flows {
    std::vector<std::vector<std::uint32_t>> to;  // by rank
    std::vector<std::uint32_t> from;             // by rank: of how many it receives
    std::vector<std::uint32_t> part;             // by rank: a rank of the same part of the graph

    std::uint32_t root(std::uint32_t rank) {
        while (part[rank] != rank) rank = part[rank] = part[part[rank]];
        return rank;
    }
};

Flows flows_of(const Job& job) {
    constexpr double little =
        0.01;  // of what goes between two ranks of a pipeline: what is said at the begin or the end
    Flows flows{.to = std::vector<std::vector<std::uint32_t>>(job.size),
                .from = std::vector<std::uint32_t>(job.size),
                .part = std::vector<std::uint32_t>(job.size)};
    std::iota(flows.part.begin(), flows.part.end(), 0u);
    std::uint64_t most = 0;
    for (const PeerPair& pair : job.peers.pairs) most = std::max(most, pair.messages());
    for (const PeerPair& pair : job.peers.pairs) {
        if (pair.from >= job.size || pair.to >= job.size || pair.from == pair.to) continue;
        if (static_cast<double>(pair.messages()) < little * static_cast<double>(most)) continue;
        flows.to[pair.from].push_back(pair.to);
        ++flows.from[pair.to];
        flows.part[flows.root(pair.from)] = flows.root(pair.to);
    }
    return flows;
}

// The sinks of such a graph; none where it is another.
Ranks sinks_of(Flows flows) {
    constexpr std::uint32_t least_long = 3;
    Ranks sinks, next;
    std::vector<std::uint32_t> place(flows.to.size());
    std::size_t sources = 0, members = 0, parts = 0, visited = 0;
    for (std::uint32_t rank = 0; rank < flows.to.size(); ++rank) {
        if (flows.to[rank].empty() && flows.from[rank] == 0) continue;
        ++members;
        parts += flows.root(rank) == rank;
        if (flows.to[rank].empty()) sinks.push_back(rank);
        if (flows.from[rank] != 0) continue;
        ++sources;
        next.push_back(rank);
    }
    while (!next.empty()) {
        const std::uint32_t rank = next.back();
        next.pop_back();
        ++visited;
        for (const std::uint32_t to : flows.to[rank]) {
            place[to] = std::max(place[to], place[rank] + 1);
            if (--flows.from[to] == 0) next.push_back(to);
        }
    }
    const bool has_cycle = visited != members;
    const auto is_short = [&](std::uint32_t sink) { return place[sink] + 1 < least_long; };
    if (has_cycle || sources != parts || sinks.size() != parts || std::any_of(sinks.begin(), sinks.end(), is_short))
        return {};
    return sinks;
}

}  // namespace

bool is_pipeline(const Job& job, double waiting_ns) {
    constexpr double most_of_it = 2.0 / 3, a_good_part = 1.0 / 3;
    const ComparedCall* behind = most_waited_in(job);
    if (!job.peers.is_recorded || !behind || behind->waiting_ns < a_good_part * waiting_ns) return false;
    const Ranks sinks = sinks_of(flows_of(job));
    double for_sinks = 0;
    for (const LastRank& last : behind->last_ranks)
        if (is_in(sinks, last.rank)) for_sinks += last.waited_ns;
    return for_sinks > 0 && for_sinks >= most_of_it * behind->compared_waiting_ns;
}

}  // namespace mpiprof::report
