// The rules, one function each, and the list of them. Each looks at one node after the other and tells of all of them
// at once.
#include "report/sections/placement_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "report/analysis/placed_nodes.h"
#include "report/model/units.h"
#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

constexpr double throttled_enough = 0.01;  // of the time
constexpr double memory_enough = 0.9;      // of the limit
constexpr double all_busy = 0.9;           // of the cores
constexpr double beyond = 1.05;            // of the cores; clocks of CPU time and of elapsed time differ a little
constexpr double pushed_off_often = 50;    // times a second

// ---- what to do, by who started the ranks ----

enum class Wish { own_cores, cores_for_threads, one_numa_node };

struct Advice {
    std::string_view launcher;
    std::array<std::string_view, 3> text;  // by Wish
};
constexpr Advice advices[] = {
    {"Open MPI",
     {"mpirun --map-by core --bind-to core", "mpirun --map-by slot:PE=THREADS --bind-to core",
      "mpirun --map-by numa --bind-to numa"}},
    {"Slurm", {"srun --cpu-bind=cores", "srun --cpus-per-task=THREADS --cpu-bind=cores", "srun --cpu-bind=ldoms"}},
    {"Hydra",
     {"mpiexec -bind-to core -map-by core", "mpiexec -bind-to core:THREADS", "mpiexec -bind-to numa -map-by numa"}},
    {"PALS", {"mpiexec --cpu-bind core", "mpiexec --depth THREADS --cpu-bind depth", "mpiexec --cpu-bind numa"}},
    {"",
     {"--bind-to core (Open MPI), -bind-to core (MPICH), --cpu-bind=cores (srun)",
      "--map-by slot:PE=THREADS (Open MPI), -bind-to core:THREADS (MPICH), --cpus-per-task=THREADS (srun)",
      "--bind-to numa (Open MPI), -bind-to numa (MPICH), --cpu-bind=ldoms (srun)"}},
};

std::string advice(const Job& job, Wish wish, std::uint64_t threads = 0) {
    const auto* row = std::find_if(std::begin(advices), std::end(advices) - 1,
                                   [&](const Advice& a) { return a.launcher == job.launcher; });
    std::string text(row->text[static_cast<std::size_t>(wish)]);
    const std::string number = threads ? fmt::format("{}", threads) : std::string("N");
    for (std::size_t at = 0; (at = text.find("THREADS", at)) != std::string::npos;) text.replace(at, 7, number);
    return text + ".";
}

// ---- whom a rule speaks of ----

class Affected {
  public:
    void add(const PlacedNode& node, const std::vector<const RankPlace*>& ranks) {
        for (const RankPlace* rank : ranks) ranks_.push_back(rank->rank);
        if (nodes_.empty() || nodes_.back() != &node) nodes_.push_back(&node);
    }
    bool empty() const { return ranks_.empty(); }
    bool is_one() const { return ranks_.size() == 1; }
    const char* verb(const char* one, const char* many) const { return is_one() ? one : many; }

    // "Ranks 0-3 on node nid10001"
    std::string text() {
        std::sort(ranks_.begin(), ranks_.end());
        return fmt::format("{} {} on {}", is_one() ? "Rank" : "Ranks", rank_list(ranks_, 4),
                           nodes_.size() == 1 ? "node " + nodes_[0]->host : plural(nodes_.size(), "node", "nodes"));
    }

  private:
    std::vector<std::uint32_t> ranks_;
    std::vector<const PlacedNode*> nodes_;
};

std::string cores(std::uint64_t n) { return plural(n, "core", "cores"); }

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
using Findings = std::vector<PlacementFinding>;

void overlapping_masks(const Job& job, const Nodes& nodes, Findings& findings) {
    Affected affected;
    std::string example;
    for (const PlacedNode& node : nodes)
        for (const Mask& mask : node.masks) {
            if (!mask.overlaps) continue;
            affected.add(node, mask.ranks);
            if (example.empty())
                example = fmt::format("rank {}: {}, rank {}: {}", mask.ranks[0]->rank, mask.cpus->text(),
                                      mask.overlaps->ranks[0]->rank, mask.overlaps->cpus->text());
        }
    if (affected.empty()) return;
    findings.push_back({true,
                        fmt::format("{} were allowed cores that overlap without being the same ({}): some cores have "
                                    "more to do than others, and who has them waits.",
                                    affected.text(), example),
                        "Try " + advice(job, Wish::own_cores), "masks"});
}

// More ranks than cores: some mask (or all of them together) has fewer cores than ranks that may use no others.
void more_ranks_than_cores(const Job& job, const Nodes& nodes, Findings& findings) {
    Affected affected;
    std::string example;
    for (const PlacedNode& node : nodes) {
        const bool overlaps =
            std::any_of(node.masks.begin(), node.masks.end(), [](const Mask& m) { return m.overlaps; });
        std::vector<const RankPlace*> crowd;
        const auto tell = [&](std::size_t ranks, const NumberList& cpus) {
            if (example.empty()) example = fmt::format("{} ranks on {} ({})", ranks, cores(cpus.count()), cpus.text());
        };
        for (const Mask& mask : node.masks) {
            if (mask.cpus->count() >= node.bound) continue;
            std::size_t ranks = mask.ranks.size();
            for (const Mask& other : node.masks)
                if (overlaps && &other != &mask && mask.cpus->contains(*other.cpus)) ranks += other.ranks.size();
            if (ranks <= mask.cpus->count()) continue;
            crowd.insert(crowd.end(), mask.ranks.begin(), mask.ranks.end());
            tell(ranks, *mask.cpus);
        }
        if (crowd.empty() && node.bound > node.cpus.count()) {
            for (const Mask& mask : node.masks) crowd.insert(crowd.end(), mask.ranks.begin(), mask.ranks.end());
            tell(node.bound, node.cpus);
        }
        if (!crowd.empty()) affected.add(node, crowd);
    }
    if (affected.empty()) return;
    findings.push_back(
        {true,
         fmt::format("{} are more than their cores: {}. They take turns, and every wait takes longer "
                     "for it.",
                     affected.text(), example),
         "Start fewer ranks per node, or ask for more cores; if there are enough, try " + advice(job, Wish::own_cores),
         "too-many"});
}

// Several ranks, each allowed all the cores there are: the kernel may move them away from their caches and memory.
void unbound(const Job& job, const Nodes& nodes, Findings& findings) {
    Affected affected;
    std::string example;
    for (const PlacedNode& node : nodes) {
        if (node.masks.size() != 1 || node.bound < 2 || node.cpus.count() < node.bound) continue;
        const bool is_one_of_several =
            node.facts->numa_nodes.size() > 1 && numa_nodes_of(*node.facts, node.cpus).size() == 1;
        if (is_one_of_several) continue;  // bound to a NUMA node, which is a choice
        affected.add(node, node.masks[0].ranks);
        if (example.empty()) example = fmt::format("all {} ({})", cores(node.cpus.count()), node.cpus.text());
    }
    if (affected.empty()) return;
    findings.push_back(
        {false,
         fmt::format("{} are not bound: each may run on {}, and be moved away from its caches and memory.",
                     affected.text(), example),
         "Try " + advice(job, Wish::own_cores), "unbound"});
}

// Masks over several NUMA nodes that would fit into one.
void spread_over_numa(const Job& job, const Nodes& nodes, Findings& findings) {
    Affected affected;
    std::string example;
    for (const PlacedNode& node : nodes) {
        if (node.bound < 2 || node.masks.size() < 2) continue;  // alone on its node, or unbound
        std::uint64_t largest = 0;
        for (const NumaNode& numa : node.facts->numa_nodes) largest = std::max(largest, numa.cpus.count());
        for (const Mask& mask : node.masks) {
            const auto numa = numa_nodes_of(*node.facts, *mask.cpus);
            if (numa.size() < 2 || mask.cpus->count() > largest) continue;
            affected.add(node, mask.ranks);
            if (example.empty())
                example = fmt::format("rank {}: cores {} of NUMA nodes {}", mask.ranks[0]->rank, mask.cpus->text(),
                                      rank_list(numa, 4));
        }
    }
    if (affected.empty()) return;
    findings.push_back({false,
                        fmt::format("{} may run on several NUMA nodes ({}) although one has enough cores: part of "
                                    "{} memory is remote.",
                                    affected.text(), example, affected.verb("its", "their")),
                        "Try " + advice(job, Wish::one_numa_node), "spread"});
}

// Ranks far from the node's only adapter while cores beside it are free. On a full node some have to be far.
void far_adapter(const Job& job, const Nodes& nodes, Findings& findings) {
    if (job.nodes.size() < 2) return;  // nothing goes through it
    Affected affected;
    std::string example;
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
        affected.add(node, far);
        if (example.empty())
            example = fmt::format("{}, the only adapter, is on NUMA node {}, where {} free", adapter.name,
                                  *adapter.numa_node, free == 1 ? "1 core is" : fmt::format("{} cores are", free));
    }
    if (affected.empty()) return;
    findings.push_back(
        {false, fmt::format("{} {} far from the network: {}.", affected.text(), affected.verb("is", "are"), example),
         "Try " + advice(job, Wish::one_numa_node), "far-adapter"});
}

void far_gpu(const Job& job, const Nodes& nodes, Findings& findings) {
    Affected affected;
    std::string example;
    for (const PlacedNode& node : nodes)
        for (const Mask& mask : node.masks)
            for (const RankPlace* rank : mask.ranks) {
                const auto gpu = gpu_of(job.placement, *rank, *node.facts);
                if (!gpu || gpu->distance != Distance::far) continue;
                affected.add(node, {rank});
                if (example.empty())
                    example =
                        fmt::format("rank {}: GPU {} is on NUMA node {}, its cores on {}", rank->rank, gpu->number,
                                    *gpu->numa_node, rank_list(numa_nodes_of(*node.facts, *mask.cpus), 4));
            }
    if (affected.empty()) return;
    findings.push_back({false,
                        fmt::format("{} {} far from {} GPU ({}).", affected.text(), affected.verb("is", "are"),
                                    affected.verb("its", "their"), example),
                        "Bind each rank beside its GPU, or give it another one: srun --gpu-bind=closest, or a wrapper "
                        "that sets CUDA_VISIBLE_DEVICES and calls numactl.",
                        "far-gpu"});
}

// OMP_NUM_THREADS against the cores allowed.
void more_threads_than_cores(const Job& job, const Nodes& nodes, Findings& findings) {
    Affected affected;
    std::string example;
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
            affected.add(node, mask.ranks);
            most = std::max(most, largest);
            is_busy |= busy >= all_busy * static_cast<double>(mask.cpus->count());
            if (example.empty())
                example = fmt::format("{} threads for {} ({})", threads, cores(mask.cpus->count()), mask.cpus->text());
        }
    if (affected.empty()) return;
    findings.push_back({is_busy,
                        fmt::format("{} {} fewer cores than threads by OMP_NUM_THREADS: {}.", affected.text(),
                                    affected.verb("has", "have"), example),
                        "Try " + advice(job, Wish::cores_for_threads, most), "threads"});
}

// A rank that has its cores for itself, keeps them busy and is pushed off all the same: by its own threads.
void starved(const Job& job, const Nodes& nodes, Findings& findings) {
    Affected affected;
    std::string example;
    for (const PlacedNode& node : nodes)
        for (const Mask& mask : node.masks) {
            const RankPlace& rank = *mask.ranks.front();
            const auto allowed = static_cast<double>(mask.cpus->count());
            if (!has_own_cores(mask) || rank.cores_busy.value_or(0) < all_busy * allowed ||
                rank.pushed_off_per_s.value_or(0) < pushed_off_often * allowed)
                continue;
            affected.add(node, mask.ranks);
            if (example.empty())
                example = fmt::format("rank {}: {} of {}, {} times a second", rank.rank, human_number(*rank.cores_busy),
                                      cores(mask.cpus->count()), human_count(std::round(*rank.pushed_off_per_s)));
        }
    if (affected.empty()) return;
    findings.push_back(
        {true,
         fmt::format("{} {} all allowed cores busy and {} pushed off them ({}): more threads want to run "
                     "than cores are allowed.",
                     affected.text(), affected.verb("keeps", "keep"), affected.verb("is", "are"), example),
         "Try " + advice(job, Wish::cores_for_threads), "starved"});
}

// More cores busy than were allowed when MPI began.
void busy_beyond(const Job& job, const Nodes& nodes, Findings& findings) {
    Affected affected;
    std::string example;
    for (const PlacedNode& node : nodes)
        for (const Mask& mask : node.masks)
            for (const RankPlace* rank : mask.ranks) {
                const auto allowed = static_cast<double>(mask.cpus->count());
                if (rank->cores_busy.value_or(0) <= beyond * allowed) continue;
                affected.add(node, {rank});
                if (example.empty())
                    example = fmt::format("rank {}: {} busy, {} allowed", rank->rank, human_number(*rank->cores_busy),
                                          cores(mask.cpus->count()));
            }
    if (affected.empty()) return;
    findings.push_back(
        {true,
         fmt::format("{} kept more cores busy than {} allowed in MPI_Init ({}): {} threads have "
                     "left the mask, and may be on the cores of others.",
                     affected.text(), affected.verb("it was", "they were"), example, affected.verb("its", "their")),
         "Try " + advice(job, Wish::cores_for_threads), "beyond"});
}

void throttled(const Job&, const Nodes& nodes, Findings& findings) {
    Affected affected;
    std::uint64_t most = 0;
    double share = 0;
    for (const PlacedNode& node : nodes)
        for (const RankPlace* rank : node.ranks) {
            const double of_span =
                rank->span_ns ? static_cast<double>(rank->throttled_ns) / static_cast<double>(rank->span_ns) : 0;
            if (of_span <= throttled_enough) continue;
            affected.add(node, {rank});
            most = std::max(most, rank->throttled_ns);
            share = std::max(share, of_span);
        }
    if (affected.empty()) return;
    findings.push_back({true,
                        fmt::format("{}: the cgroup was kept from the processors for up to {} ({} of the time; all its "
                                    "cores count): it uses up its quota of CPU time.",
                                    affected.text(), human_time(static_cast<double>(most)), human_share(share)),
                        "Ask for a larger quota (cpu limit of the container or step), or run fewer threads.",
                        "throttled"});
}

// Against the limit of the cgroup: each rank by itself, then the ranks of a node, which mostly share one. The sum of
// their peaks cannot be much above a limit that they do share.
void memory(const Job&, const Nodes& nodes, Findings& findings) {
    constexpr double too_much_to_share = 1.1;
    Affected alone, together;
    double alone_share = 0, together_share = 0;
    std::uint64_t limit = 0;
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
            alone_share = std::max(alone_share, share);
            limit = rank->memory_limit;
        }
        if (!is_one_limit) continue;
        const double share = sum / static_cast<double>(node.ranks[0]->memory_limit);
        if (share <= memory_enough || share > too_much_to_share) continue;
        together.add(node, node.ranks);
        together_share = std::max(together_share, share);
        limit = node.ranks[0]->memory_limit;
    }
    const std::string what_to_do =
        "Ask for more memory, or start fewer ranks per node: the kernel kills who exceeds it.";
    if (!alone.empty())
        findings.push_back(
            {true,
             fmt::format("{} used up to {} of the memory limit of {} cgroup ({}).", alone.text(),
                         human_share(alone_share), alone.verb("its", "their"), human_bytes(static_cast<double>(limit))),
             what_to_do, "memory"});
    else if (!together.empty())
        findings.push_back(
            {false,
             fmt::format("{} together used up to {} of the memory limit ({}) if they share one cgroup.",
                         together.text(), human_share(together_share), human_bytes(static_cast<double>(limit))),
             what_to_do, "memory"});
}

}  // namespace

std::vector<PlacementFinding> placement_findings(const Job& job) {
    const Nodes nodes = placed_nodes(job);
    Findings findings;
    for (const auto rule : {more_ranks_than_cores, overlapping_masks, more_threads_than_cores, starved, busy_beyond,
                            throttled, memory, unbound, spread_over_numa, far_gpu, far_adapter})
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
