// What is wrong with where the ranks ran, in words; and what to do about it, by who started them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/model/units.h"
#include "report/sections/finding_words.h"
#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t most_items = 4;  // of a list of ranks or NUMA nodes

std::string cores(std::uint64_t n) { return plural(n, "core", "cores"); }
std::string cores(const NumberList& cpus) { return fmt::format("{} ({})", cores(cpus.count()), cpus.text()); }

// "Ranks 0-3 on node nid10001"
std::string who(const Finding& finding, const Job& job) {
    return fmt::format("{} on {}", ranks_text(finding.ranks, most_items, At::begin),
                       finding.nodes.size() == 1 ? "node " + host_of(job, finding.nodes[0])
                                                 : plural(finding.nodes.size(), "node", "nodes"));
}

const char* verb(const Finding& finding, const char* one, const char* many) {
    return finding.ranks.size() == 1 ? one : many;
}

// ---- what to do ----

enum class Wish { own_cores, cores_for_threads, one_numa_node };

constexpr std::string_view slurm = "Slurm";

struct Advice {
    std::string_view launcher;
    std::array<std::string_view, 3> text;  // by Wish
};
constexpr Advice advices[] = {
    {"Open MPI",
     {"mpirun --map-by core --bind-to core", "mpirun --map-by slot:PE={threads} --bind-to core",
      "mpirun --map-by numa --bind-to numa"}},
    {slurm, {"srun --cpu-bind=cores", "srun --cpus-per-task={threads} --cpu-bind=cores", "srun --cpu-bind=ldoms"}},
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

struct AdviceWords {
    const Job& job;

    std::string operator()(const evidence::Masks&) const { return "Try " + advice(job, Wish::own_cores); }
    std::string operator()(const evidence::TooMany&) const {
        return "Start fewer ranks per node, or ask for more cores; if there are enough, try " +
               advice(job, Wish::own_cores);
    }
    std::string operator()(const evidence::Unbound&) const { return "Try " + advice(job, Wish::own_cores); }
    std::string operator()(const evidence::Spread&) const { return "Try " + advice(job, Wish::one_numa_node); }
    std::string operator()(const evidence::FarAdapter&) const { return "Try " + advice(job, Wish::one_numa_node); }
    std::string operator()(const evidence::FarGpu&) const {
        return "Bind each rank beside its GPU, or give it another one: srun --gpu-bind=closest, or a wrapper that sets "
               "CUDA_VISIBLE_DEVICES and calls numactl.";
    }
    std::string operator()(const evidence::Threads& e) const {
        return "Try " + advice(job, Wish::cores_for_threads, e.most_of_rank);
    }
    std::string operator()(const evidence::Starved&) const { return "Try " + advice(job, Wish::cores_for_threads); }
    std::string operator()(const evidence::Beyond&) const { return "Try " + advice(job, Wish::cores_for_threads); }
    std::string operator()(const evidence::Throttled&) const {
        return "Ask for a larger quota (cpu limit of the container or step), or run fewer threads.";
    }
    std::string operator()(const evidence::Memory&) const {
        return "Ask for more memory, or start fewer ranks per node: the kernel kills who exceeds it.";
    }
    std::string operator()(const evidence::Crowded& e) const { return e.too_many ? (*this)(*e.too_many) : ""; }
    std::string operator()(const evidence::WrongLauncher&) const {
        if (job.launcher == slurm)
            return "Try srun --mpi=pmix (Open MPI) or srun --mpi=pmi2 (MPICH): srun --mpi=list names those that are there.";
        return "Take the mpirun that came with the program's library: module list, which mpirun, ldd PROGRAM.";
    }
    std::string operator()(const auto&) const { return ""; }
};

}  // namespace

std::string advice_of(const Finding& finding, const Job& job) { return std::visit(AdviceWords{job}, finding.evidence); }

std::string FindingWords::operator()(const evidence::Masks& e) const {
    return fmt::format(
        "{} were allowed cores that overlap without being the same (rank {}: {}, rank {}: {}): some cores have more to do "
        "than others, and who has them waits.",
        who(finding, job), e.rank, e.cpus.text(), e.other_rank, e.other_cpus.text());
}

std::string FindingWords::operator()(const evidence::TooMany& e) const {
    return fmt::format(
        "{} may use fewer cores than they are: {} ranks, {}. Whenever more of them want to run, they take turns.",
        who(finding, job), e.ranks, cores(e.cpus));
}

std::string FindingWords::operator()(const evidence::Unbound& e) const {
    return fmt::format("{} are not bound: each may run on all {}, and be moved away from its caches and memory.",
                       who(finding, job), cores(e.cpus));
}

std::string FindingWords::operator()(const evidence::Spread& e) const {
    return fmt::format(
        "{} may run on several NUMA nodes (rank {}: cores {} of NUMA nodes {}) although one has enough cores: part of {} "
        "memory is remote.",
        who(finding, job), e.rank, e.cpus.text(), rank_list(e.numa_nodes, most_items), verb(finding, "its", "their"));
}

std::string FindingWords::operator()(const evidence::FarAdapter& e) const {
    return fmt::format("{} {} far from the network: {}, the only adapter, is on NUMA node {}, where {} free.",
                       who(finding, job), verb(finding, "is", "are"), e.adapter, e.numa_node,
                       e.free_cores == 1 ? "1 core is" : fmt::format("{} cores are", e.free_cores));
}

std::string FindingWords::operator()(const evidence::FarGpu& e) const {
    return fmt::format("{} {} far from {} GPU (rank {}: GPU {} is on NUMA node {}, its cores on {}).",
                       who(finding, job), verb(finding, "is", "are"), verb(finding, "its", "their"), e.rank, e.gpu,
                       e.gpu_numa_node, rank_list(e.numa_nodes, most_items));
}

std::string FindingWords::operator()(const evidence::Threads& e) const {
    return fmt::format("{} {} fewer cores than threads by OMP_NUM_THREADS: {} threads for {}.", who(finding, job),
                       verb(finding, "has", "have"), e.threads, cores(e.cpus));
}

std::string FindingWords::operator()(const evidence::Starved& e) const {
    return fmt::format(
        "{} {} all allowed cores busy and {} pushed off them (rank {}: {} of {}, {} times a second): more threads want to "
        "run than cores are allowed.",
        who(finding, job), verb(finding, "keeps", "keep"), verb(finding, "is", "are"), e.rank,
        human_number(e.cores_busy), cores(e.cores), human_count(std::round(e.pushed_off_per_s)));
}

std::string FindingWords::operator()(const evidence::Beyond& e) const {
    return fmt::format(
        "{} kept more cores busy than {} allowed in {} (rank {}: {} busy, {} allowed): {} threads have left the "
        "mask, and may be on the cores of others.",
        who(finding, job), verb(finding, "it was", "they were"), words.init, e.rank, human_number(e.cores_busy),
        cores(e.cores), verb(finding, "its", "their"));
}

std::string FindingWords::operator()(const evidence::Throttled& e) const {
    return fmt::format(
        "{}: the cgroup was kept from the processors for up to {} ({} of the time; all its cores count): it uses up its "
        "quota of CPU time.",
        who(finding, job), human_time(static_cast<double>(e.most_ns)), human_share(e.share));
}

std::string FindingWords::operator()(const evidence::Memory& e) const {
    const std::string limit = human_bytes(static_cast<double>(e.limit_bytes));
    if (e.is_of_all_together)
        return fmt::format("{} together used up to {} of the memory limit ({}) if they share one cgroup.",
                           who(finding, job), human_share(e.share), limit);
    return fmt::format("{} used up to {} of the memory limit of {} cgroup ({}).", who(finding, job),
                       human_share(e.share), verb(finding, "its", "their"), limit);
}

}  // namespace mpiprof::report
