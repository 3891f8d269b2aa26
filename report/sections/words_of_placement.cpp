// Where the ranks ran and whether they had a processor, and what to do about it by who started them.
#include "report/sections/rule_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/model/units.h"
#include "report/sections/section.h"

namespace mpiprof::report {

using rule_words::of;
namespace {

constexpr std::size_t most_items = Spoken::most_items;
constexpr std::string_view more_of_placement = " Details: mpiprof-report placement.";

std::string cores(std::uint64_t n) { return plural(n, "core", "cores"); }
std::string cores(const NumberList& cpus) { return fmt::format("{} ({})", cores(cpus.count()), cpus.text()); }

// "Ranks 0-3 on node nid10001"
std::string who(const Spoken& s) {
    return fmt::format("{} on {}", s.ranks(),
                       s.finding.nodes.size() == 1 ? "node " + host_of(s.job, s.finding.nodes[0])
                                                   : plural(s.finding.nodes.size(), "node", "nodes"));
}

// ---- what to do ----

enum class Wish { own_cores, cores_for_threads, one_numa_node };

struct Advice {
    std::string_view launcher;
    std::array<std::string_view, 3> text;  // by Wish
};
constexpr Advice advices[] = {
    {"Open MPI",
     {"mpirun --map-by core --bind-to core", "mpirun --map-by slot:PE={threads} --bind-to core",
      "mpirun --map-by numa --bind-to numa"}},
    {"Slurm", {"srun --cpu-bind=cores", "srun --cpus-per-task={threads} --cpu-bind=cores", "srun --cpu-bind=ldoms"}},
    {"Hydra",
     {"mpiexec -bind-to core -map-by core", "mpiexec -bind-to core:{threads}", "mpiexec -bind-to numa -map-by numa"}},
    {"PALS", {"mpiexec --cpu-bind core", "mpiexec --depth {threads} --cpu-bind depth", "mpiexec --cpu-bind numa"}},
    {"",
     {"--bind-to core (Open MPI), -bind-to core (MPICH), --cpu-bind=cores (srun)",
      "--map-by slot:PE={threads} (Open MPI), -bind-to core:{threads} (MPICH), --cpus-per-task={threads} (srun)",
      "--bind-to numa (Open MPI), -bind-to numa (MPICH), --cpu-bind=ldoms (srun)"}},
};

std::string advice(const Job& job, Wish wish, std::uint64_t threads = 0) {
    const auto* row = std::find_if(std::begin(advices), std::end(advices) - 1,
                                   [&](const Advice& a) { return a.launcher == job.launcher; });
    return fmt::format(fmt::runtime(row->text[static_cast<std::size_t>(wish)]),
                       fmt::arg("threads", threads ? fmt::format("{}", threads) : std::string("N"))) +
           ".";
}

}  // namespace

namespace {

// The words of the rule of the placement that it is, and what to do.
std::string says_what_is_wrong(const Spoken& s) {
    Finding wrong = s.finding;
    wrong.rule = s.finding.of.value();
    std::string text = words_of(wrong, s.job);
    if (const std::string advice = advice_of(wrong, s.job); !advice.empty()) text += " " + advice;
    return text.append(more_of_placement);
}

}  // namespace

const RuleWords rule_words::placement{
    .means = "Process binding problem: serious, so that the summary reports it.",
    .evidence = "The affinity mask of each rank in MPI_Init, compared with those of the other ranks of its node.",
    .check = "mpiprof-report placement has the rule, the ranks and the launcher option that fixes it.",
    .says = says_what_is_wrong,
};

namespace {
std::string says(const evidence::Masks& e, const Spoken& s) {
    return fmt::format(
        "{} have partially overlapping affinity masks (rank {}: {}, rank {}: {}): the shared cores are contended.",
        who(s), e.rank, e.cpus.text(), e.other_rank, e.other_cpus.text());
}

std::string advises(const evidence::Masks&, const Spoken& s) { return "Try " + advice(s.job, Wish::own_cores); }

}  // namespace

const RuleWords rule_words::masks{
    .means = "Affinity masks of ranks overlap partially.",
    .evidence = "The affinity masks in MPI_Init.",
    .check = "mpiprof-report placement. Bind each rank to its own cores.",
    .says = of<evidence::Masks, says>,
    .advises = of<evidence::Masks, advises>,
};

namespace {
std::string says(const evidence::TooMany& e, const Spoken& s) {
    std::string text =
        fmt::format("{} {} oversubscribed: {} ranks on {}.", who(s), s.verb("is", "are"), e.ranks, cores(e.cpus));
    if (e.waited_share)
        text += fmt::format(
            " Outside {0} that cost little: ranks were runnable without a CPU for {1} of the run. Inside {0} it is not known.",
            s.words.library, human_share(*e.waited_share));
    return text;
}

std::string advises(const evidence::TooMany& e, const Spoken& s) {
    if (e.waited_share) return "";
    return "Start fewer ranks per node, or request more cores; if there are enough, try " +
           advice(s.job, Wish::own_cores);
}

}  // namespace

const RuleWords rule_words::too_many{
    .means = "Oversubscription: more ranks than cores.",
    .evidence = "The affinity masks in MPI_Init.",
    .check = "mpiprof-report placement. Whether it costs time: see crowded.",
    .says = of<evidence::TooMany, says>,
    .advises = of<evidence::TooMany, advises>,
};

namespace {
std::string says(const evidence::Threads& e, const Spoken& s) {
    return fmt::format("{} {} fewer cores than OMP_NUM_THREADS asks for: {} threads on {}.", who(s),
                       s.verb("has", "have"), e.threads, cores(e.cpus));
}

std::string advises(const evidence::Threads& e, const Spoken& s) {
    return "Try " + advice(s.job, Wish::cores_for_threads, e.most_of_rank);
}

}  // namespace

const RuleWords rule_words::threads{
    .means = "OMP_NUM_THREADS exceeds the allowed cores.",
    .evidence = "The variable and the affinity masks.",
    .check = "mpiprof-report placement. Use more cores per rank, or fewer threads.",
    .says = of<evidence::Threads, says>,
    .advises = of<evidence::Threads, advises>,
};

namespace {
std::string says(const evidence::Starved& e, const Spoken& s) {
    return fmt::format(
        "{} {} all allowed cores busy and {} preempted (rank {}: {} of {} busy, {} preemptions per second): more "
        "threads are runnable than cores allowed.",
        who(s), s.verb("keeps", "keep"), s.verb("is", "are"), e.rank, human_number(e.cores_busy), cores(e.cores),
        human_count(std::round(e.pushed_off_per_s)));
}

std::string advises(const evidence::Starved&, const Spoken& s) {
    return "Try " + advice(s.job, Wish::cores_for_threads);
}

}  // namespace

const RuleWords rule_words::starved{
    .means = "The threads of a rank preempt each other.",
    .evidence =
        "All its cores are busy for at least a second, it is preempted 50 times per second and core, and it waits "
        "for a CPU 5 % of the time, where scheduler statistics exist.",
    .check = "mpiprof-report placement; more cores for each rank, or fewer threads.",
    .says = of<evidence::Starved, says>,
    .advises = of<evidence::Starved, advises>,
};

namespace {
std::string says(const evidence::Beyond& e, const Spoken& s) {
    return fmt::format(
        "{} kept more cores busy than {} allowed in {} (rank {}: {} busy, {} allowed): {} threads changed their "
        "affinity and may run on cores of other ranks.",
        who(s), s.verb("it was", "they were"), s.words.init, e.rank, human_number(e.cores_busy), cores(e.cores),
        s.verb("its", "their"));
}

std::string advises(const evidence::Beyond&, const Spoken& s) {
    return "Try " + advice(s.job, Wish::cores_for_threads);
}

}  // namespace

const RuleWords rule_words::beyond{
    .means = "A rank kept more cores busy than its affinity mask in MPI_Init allows.",
    .evidence = "CPU time compared with the affinity mask.",
    .check = "mpiprof-report placement. Find the library that pins the threads.",
    .says = of<evidence::Beyond, says>,
    .advises = of<evidence::Beyond, advises>,
};

namespace {
std::string says(const evidence::Throttled& e, const Spoken& s) {
    return fmt::format("{}: CPU-throttled by the cgroup quota for up to {} ({} of the time, summed over cores).",
                       who(s), human_time(static_cast<double>(e.most_ns)), human_share(e.share));
}

std::string advises(const evidence::Throttled&, const Spoken&) {
    return "Request a larger quota (CPU limit of the container or step), or run fewer threads.";
}

}  // namespace

const RuleWords rule_words::throttled{
    .means = "A rank was CPU-throttled: its cgroup used up its quota.",
    .evidence = "cpu.stat of the cgroup: throttled for at least 1 % of the time.",
    .check = "Request a larger quota, or run fewer threads.",
    .says = of<evidence::Throttled, says>,
    .advises = of<evidence::Throttled, advises>,
};

namespace {
std::string says(const evidence::Memory& e, const Spoken& s) {
    const std::string limit = human_bytes(static_cast<double>(e.limit_bytes));
    if (e.is_of_all_together)
        return fmt::format("{} together used up to {} of the memory limit ({}), if they share one cgroup.", who(s),
                           human_share(e.share), limit);
    return fmt::format("{} used up to {} of the memory limit of {} cgroup ({}).", who(s), human_share(e.share),
                       s.verb("its", "their"), limit);
}

std::string advises(const evidence::Memory&, const Spoken&) {
    return "Request more memory, or start fewer ranks per node: beyond the limit the OOM killer ends processes.";
}

}  // namespace

const RuleWords rule_words::memory{
    .means = "Memory use is close to the cgroup limit.",
    .evidence = "Peak memory above 90 % of the limit.",
    .check = "mpiprof-report ranks. Request more memory, or start fewer ranks per node.",
    .says = of<evidence::Memory, says>,
    .advises = of<evidence::Memory, advises>,
};

namespace {
std::string says(const evidence::Unbound& e, const Spoken& s) {
    return fmt::format(
        "{} are not bound: the OS may migrate each of them across all {}, away from its caches and memory.", who(s),
        cores(e.cpus));
}

std::string advises(const evidence::Unbound&, const Spoken& s) { return "Try " + advice(s.job, Wish::own_cores); }

}  // namespace

const RuleWords rule_words::unbound{
    .means = "Ranks are not bound and may migrate.",
    .evidence = "The affinity masks in MPI_Init.",
    .check = "mpiprof-report placement.",
    .says = of<evidence::Unbound, says>,
    .advises = of<evidence::Unbound, advises>,
};

namespace {
std::string says(const evidence::Spread& e, const Spoken& s) {
    return fmt::format(
        "{} may run on several NUMA nodes (rank {}: cores {} of NUMA nodes {}) although one has enough cores: some "
        "of {} memory accesses cross NUMA nodes.",
        who(s), e.rank, e.cpus.text(), rank_list(e.numa_nodes, most_items), s.verb("its", "their"));
}

std::string advises(const evidence::Spread&, const Spoken& s) { return "Try " + advice(s.job, Wish::one_numa_node); }

}  // namespace

const RuleWords rule_words::spread{
    .means = "The cores of a rank span several NUMA nodes although one has enough.",
    .evidence = "The affinity masks and the NUMA topology.",
    .check = "mpiprof-report placement.",
    .says = of<evidence::Spread, says>,
    .advises = of<evidence::Spread, advises>,
};

namespace {
std::string says(const evidence::FarGpu& e, const Spoken& s) {
    return fmt::format(
        "{} {} on another NUMA node than {} GPU (rank {}: GPU {} is on NUMA node {}, its cores are on {}).", who(s),
        s.verb("is", "are"), s.verb("its", "their"), e.rank, e.gpu, e.gpu_numa_node,
        rank_list(e.numa_nodes, most_items));
}

std::string advises(const evidence::FarGpu&, const Spoken&) {
    return "Bind each rank to the NUMA node of its GPU, or assign it another GPU: srun --gpu-bind=closest, or a "
           "wrapper that sets CUDA_VISIBLE_DEVICES and calls numactl.";
}

}  // namespace

const RuleWords rule_words::far_gpu{
    .means = "The GPU of a rank is on another NUMA node than its cores.",
    .evidence = "CUDA_VISIBLE_DEVICES, the affinity masks and the NUMA topology.",
    .check = "mpiprof-report placement.",
    .says = of<evidence::FarGpu, says>,
    .advises = of<evidence::FarGpu, advises>,
};

namespace {
std::string says(const evidence::FarAdapter& e, const Spoken& s) {
    return fmt::format(
        "{} {} on another NUMA node than the network: {}, the only adapter, is on NUMA node {}, where {} free.", who(s),
        s.verb("is", "are"), e.adapter, e.numa_node,
        e.free_cores == 1 ? "1 core is" : fmt::format("{} cores are", e.free_cores));
}

std::string advises(const evidence::FarAdapter&, const Spoken& s) {
    return "Try " + advice(s.job, Wish::one_numa_node);
}

}  // namespace

const RuleWords rule_words::far_adapter{
    .means = "Ranks are on another NUMA node than the only network adapter, which has free cores.",
    .evidence = "The affinity masks and the NUMA topology.",
    .check = "mpiprof-report placement.",
    .says = of<evidence::FarAdapter, says>,
    .advises = of<evidence::FarAdapter, advises>,
};

}  // namespace mpiprof::report
