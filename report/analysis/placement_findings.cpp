// The rules, one function each, and the list of them. Each looks at one node after the other and tells of all of them
// at once, with what it met first as an example.
#include "report/analysis/placement_findings.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "report/analysis/causes.h"
#include "report/analysis/foreign_load.h"
#include "report/analysis/placed_nodes.h"
#include "report/analysis/processors.h"

namespace mpiprof::report {
namespace {

constexpr double throttled_enough = 0.01;  // of the time
constexpr double memory_enough = 0.9;      // of the limit
constexpr double all_busy = 0.9;           // of the cores
constexpr double beyond = 1.05;            // of the cores; clocks of CPU time and of elapsed time differ a little
constexpr double pushed_off_often = 50;    // times a second
constexpr std::uint64_t long_enough_ns = 1'000'000'000;  // a rate of a shorter time may be two or three switches

// ---- whom a rule speaks of ----

template <class Example>
class Affected {
  public:
    explicit Affected(Rule rule)
        : finding_{.rule = rule, .is_serious = false, .calls = {}, .ranks = {}, .nodes = {}, .evidence = {}} {}

    void add(const PlacedNode& node, const std::vector<const RankPlace*>& ranks) {
        for (const RankPlace* rank : ranks) finding_.ranks.push_back(rank->rank);
        if (finding_.nodes.empty() || finding_.nodes.back() != node.node) finding_.nodes.push_back(node.node);
    }
    void add(const PlacedNode& node, const std::vector<const RankPlace*>& ranks, Example found) {
        add(node, ranks);
        if (!example) example = std::move(found);
    }
    bool empty() const { return finding_.ranks.empty(); }

    void tell(std::vector<Finding>& findings, bool is_serious) {
        if (empty()) return;
        std::sort(finding_.ranks.begin(), finding_.ranks.end());
        finding_.is_serious = is_serious;
        finding_.evidence = std::move(*example);
        findings.push_back(std::move(finding_));
    }

    std::optional<Example> example;

  private:
    Finding finding_;
};

// Number of threads by OMP_NUM_THREADS ("8" or "8,2"); 0 = not said.
std::uint64_t threads_of(const Placement& placement, const RankPlace& rank) {
    std::uint64_t threads = 0;
    if (const std::string* text = placement.variable_of(rank, "OMP_NUM_THREADS"))
        std::from_chars(text->data(), text->data() + text->size(), threads);
    return threads;
}

bool has_own_cores(const Mask& mask) { return mask.ranks.size() == 1 && !mask.overlaps; }

// ---- the rules ----

using Nodes = std::vector<PlacedNode>;
using Findings = std::vector<Finding>;

void overlapping_masks(const Job&, const Nodes& nodes, Findings& findings) {
    Affected<evidence::Masks> affected(Rule::masks);
    for (const PlacedNode& node : nodes)
        for (const Mask& mask : node.masks) {
            if (!mask.overlaps) continue;
            affected.add(node, mask.ranks,
                         {.rank = mask.ranks[0]->rank,
                          .other_rank = mask.overlaps->ranks[0]->rank,
                          .cpus = *mask.cpus,
                          .other_cpus = *mask.overlaps->cpus});
        }
    affected.tell(findings, true);
}

// More ranks than cores: some mask (or all of them together) has fewer cores than ranks that may use no others.
void more_ranks_than_cores(const Job&, const Nodes& nodes, Findings& findings) {
    Affected<evidence::TooMany> affected(Rule::too_many);
    for (const PlacedNode& node : nodes) {
        const bool overlaps =
            std::any_of(node.masks.begin(), node.masks.end(), [](const Mask& m) { return m.overlaps; });
        bool is_crowded = false;
        for (const Mask& mask : node.masks) {
            if (mask.cpus->count() >= node.bound) continue;
            std::size_t ranks = mask.ranks.size();
            for (const Mask& other : node.masks)
                if (overlaps && &other != &mask && mask.cpus->contains(*other.cpus)) ranks += other.ranks.size();
            if (ranks <= mask.cpus->count()) continue;
            affected.add(node, mask.ranks, {.ranks = ranks, .cpus = *mask.cpus});
            is_crowded = true;
        }
        if (is_crowded || node.bound <= node.cpus.count()) continue;
        for (const Mask& mask : node.masks) affected.add(node, mask.ranks, {.ranks = node.bound, .cpus = node.cpus});
    }
    affected.tell(findings, true);
}

// Several ranks, each allowed all the cores there are: the kernel may move them away from their caches and memory.
void unbound(const Job&, const Nodes& nodes, Findings& findings) {
    Affected<evidence::Unbound> affected(Rule::unbound);
    for (const PlacedNode& node : nodes) {
        if (node.masks.size() != 1 || node.bound < 2 || node.cpus.count() < node.bound) continue;
        const bool is_one_of_several =
            node.facts->numa_nodes.size() > 1 && numa_nodes_of(*node.facts, node.cpus).size() == 1;
        if (is_one_of_several) continue;  // bound to a NUMA node, which is a choice
        affected.add(node, node.masks[0].ranks, {.cpus = node.cpus});
    }
    affected.tell(findings, false);
}

// Masks over several NUMA nodes that would fit into one.
void spread_over_numa(const Job&, const Nodes& nodes, Findings& findings) {
    Affected<evidence::Spread> affected(Rule::spread);
    for (const PlacedNode& node : nodes) {
        if (node.bound < 2 || node.masks.size() < 2) continue;  // alone on its node, or unbound
        std::uint64_t largest = 0;
        for (const NumaNode& numa : node.facts->numa_nodes) largest = std::max(largest, numa.cpus.count());
        for (const Mask& mask : node.masks) {
            const auto numa = numa_nodes_of(*node.facts, *mask.cpus);
            if (numa.size() < 2 || mask.cpus->count() > largest) continue;
            affected.add(node, mask.ranks, {.rank = mask.ranks[0]->rank, .cpus = *mask.cpus, .numa_nodes = numa});
        }
    }
    affected.tell(findings, false);
}

// Ranks far from the node's only adapter while cores beside it are free. On a full node some have to be far.
void far_adapter(const Job& job, const Nodes& nodes, Findings& findings) {
    if (job.nodes.size() < 2) return;  // nothing goes through it
    Affected<evidence::FarAdapter> affected(Rule::far_adapter);
    for (const PlacedNode& node : nodes) {
        std::vector<const RankPlace*> far;
        std::uint64_t cores_of_far = 0;
        for (const Mask& mask : node.masks)
            if (adapter_distance(*node.facts, *mask.cpus) == Distance::far) {
                far.insert(far.end(), mask.ranks.begin(), mask.ranks.end());
                cores_of_far = std::max(cores_of_far, mask.cpus->count());
            }
        if (far.empty()) continue;
        const Device& adapter = node.facts->adapters.front();
        std::uint64_t free = 0;
        for (const NumaNode& numa : node.facts->numa_nodes)
            if (numa.number == *adapter.numa_node) free = numa.cpus.count() - numa.cpus.overlap(node.cpus);
        if (free == 0 || free < cores_of_far) continue;
        affected.add(node, far, {.adapter = adapter.name, .numa_node = *adapter.numa_node, .free_cores = free});
    }
    affected.tell(findings, false);
}

void far_gpu(const Job& job, const Nodes& nodes, Findings& findings) {
    Affected<evidence::FarGpu> affected(Rule::far_gpu);
    for (const PlacedNode& node : nodes)
        for (const Mask& mask : node.masks)
            for (const RankPlace* rank : mask.ranks) {
                const auto gpu = gpu_of(job.placement, *rank, *node.facts);
                if (!gpu || gpu->distance != Distance::far) continue;
                affected.add(node, {rank},
                             {.rank = rank->rank,
                              .gpu = gpu->number,
                              .gpu_numa_node = *gpu->numa_node,
                              .numa_nodes = numa_nodes_of(*node.facts, *mask.cpus)});
            }
    affected.tell(findings, false);
}

// OMP_NUM_THREADS against the cores allowed.
void more_threads_than_cores(const Job& job, const Nodes& nodes, Findings& findings) {
    Affected<evidence::Threads> affected(Rule::threads);
    std::uint64_t most = 0;
    bool is_busy = false;
    for (const PlacedNode& node : nodes)
        for (const Mask& mask : node.masks) {
            std::uint64_t threads = 0;
            std::uint64_t largest = 0;
            double busy = 0;
            for (const RankPlace* rank : mask.ranks) {
                const std::uint64_t n = threads_of(job.placement, *rank);
                threads += std::max<std::uint64_t>(1, n);
                largest = std::max(largest, n);
                busy += rank->cores_busy.value_or(0);
            }
            if (largest < 2 || threads <= mask.cpus->count()) continue;
            affected.add(node, mask.ranks, {.threads = threads, .cpus = *mask.cpus});
            most = std::max(most, largest);
            is_busy |= busy >= all_busy * static_cast<double>(mask.cpus->count());
        }
    if (affected.example) affected.example->most_of_rank = most;
    affected.tell(findings, is_busy);
}

// Whether it is pushed off so often that it counts; and waits for a processor, where the kernel says how long: outside
// MPI, if that is known, since a rank that waits for a message and yields loses nothing by it.
bool is_pushed_off(const Job& job, const RankPlace& place, double allowed) {
    if (place.span_ns < long_enough_ns || place.pushed_off_per_s.value_or(0) < pushed_off_often * allowed) return false;
    const Rank* rank = job.find(place.rank);
    if (!rank || rank->usage.ran_ns == 0) return true;
    const auto wait = processor_wait(*rank);
    const double waited_ns = wait ? wait->outside_ns : static_cast<double>(rank->usage.waited_ns);
    return waited_ns >= worth_a_look * static_cast<double>(rank->elapsed_ns);
}

// A rank that has its cores for itself, keeps them busy and is pushed off all the same: by its own threads.
void starved(const Job& job, const Nodes& nodes, Findings& findings) {
    Affected<evidence::Starved> affected(Rule::starved);
    for (const PlacedNode& node : nodes)
        for (const Mask& mask : node.masks) {
            const RankPlace& rank = *mask.ranks.front();
            const auto allowed = static_cast<double>(mask.cpus->count());
            if (!has_own_cores(mask) || rank.cores_busy.value_or(0) < all_busy * allowed ||
                !is_pushed_off(job, rank, allowed))
                continue;
            affected.add(node, mask.ranks,
                         {.rank = rank.rank,
                          .cores_busy = *rank.cores_busy,
                          .cores = mask.cpus->count(),
                          .pushed_off_per_s = *rank.pushed_off_per_s});
        }
    affected.tell(findings, true);
}

// More cores busy than were allowed when MPI began.
void busy_beyond(const Job&, const Nodes& nodes, Findings& findings) {
    Affected<evidence::Beyond> affected(Rule::beyond);
    for (const PlacedNode& node : nodes)
        for (const Mask& mask : node.masks)
            for (const RankPlace* rank : mask.ranks) {
                if (rank->cores_busy.value_or(0) <= beyond * static_cast<double>(mask.cpus->count())) continue;
                affected.add(node, {rank},
                             {.rank = rank->rank, .cores_busy = *rank->cores_busy, .cores = mask.cpus->count()});
            }
    affected.tell(findings, true);
}

void throttled(const Job&, const Nodes& nodes, Findings& findings) {
    Affected<evidence::Throttled> affected(Rule::throttled);
    evidence::Throttled most;
    for (const PlacedNode& node : nodes)
        for (const RankPlace* rank : node.ranks) {
            const double share =
                rank->span_ns ? static_cast<double>(rank->throttled_ns) / static_cast<double>(rank->span_ns) : 0;
            if (share <= throttled_enough) continue;
            affected.add(node, {rank});
            most = {.most_ns = std::max(most.most_ns, rank->throttled_ns), .share = std::max(most.share, share)};
        }
    affected.example = most;
    affected.tell(findings, true);
}

// Against the limit of the cgroup: each rank by itself, then the ranks of a node, which mostly share one. The sum of
// their peaks cannot be much above a limit that they do share.
void memory(const Job&, const Nodes& nodes, Findings& findings) {
    constexpr double too_much_to_share = 1.1;
    Affected<evidence::Memory> alone(Rule::memory), together(Rule::memory);
    evidence::Memory of_one, of_all{.is_of_all_together = true};
    for (const PlacedNode& node : nodes) {
        double sum = 0;
        bool is_one_limit = node.ranks.size() > 1;
        for (const RankPlace* rank : node.ranks) {
            sum += static_cast<double>(rank->max_resident_bytes);
            is_one_limit &= rank->memory_limit != 0 && rank->memory_limit == node.ranks[0]->memory_limit;
            if (rank->memory_limit == 0) continue;
            const double share =
                static_cast<double>(rank->max_resident_bytes) / static_cast<double>(rank->memory_limit);
            if (share <= memory_enough) continue;
            alone.add(node, {rank});
            of_one.share = std::max(of_one.share, share);
            of_one.limit_bytes = of_all.limit_bytes = rank->memory_limit;
        }
        if (!is_one_limit) continue;
        const double share = sum / static_cast<double>(node.ranks[0]->memory_limit);
        if (share <= memory_enough || share > too_much_to_share) continue;
        together.add(node, node.ranks);
        of_all.share = std::max(of_all.share, share);
        of_one.limit_bytes = of_all.limit_bytes = node.ranks[0]->memory_limit;
    }
    const bool is_of_one = !alone.empty();
    (is_of_one ? alone : together).example = is_of_one ? of_one : of_all;
    (is_of_one ? alone : together).tell(findings, is_of_one);
}

}  // namespace

std::vector<Finding> placement_findings(const Job& job) {
    const Nodes nodes = placed_nodes(job);
    Findings findings;
    for (const auto rule : {more_ranks_than_cores, overlapping_masks, more_threads_than_cores, starved, busy_beyond,
                            throttled, memory, find_foreign_load, unbound, spread_over_numa, far_gpu, far_adapter})
        rule(job, nodes, findings);
    std::stable_partition(findings.begin(), findings.end(), [](const auto& f) { return f.is_serious; });
    return findings;
}

bool all_have_own_cores(const Job& job) {
    std::size_t bound = 0;
    for (const PlacedNode& node : placed_nodes(job)) {
        bound += node.bound;
        if (!std::all_of(node.masks.begin(), node.masks.end(), has_own_cores)) return false;
    }
    return bound != 0 && bound == job.ranks.size();
}

}  // namespace mpiprof::report
