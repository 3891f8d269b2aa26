#include "tests/report/placement_jobs.h"

#include <set>
#include <string>

#include "report/model/number_list.h"

namespace mpiprof::test {
namespace {

constexpr std::uint64_t GiB = std::uint64_t{1} << 30;

std::uint64_t us(double s) { return static_cast<std::uint64_t>(s * 1e6); }

void describe_node(ProfileSpec& spec) {
    using enum format::FactKind;
    spec.facts.insert(spec.facts.end(), {{node, "processor", "AMD EPYC 7763"},
                                         {node, "cpus", "0-7"},
                                         {node, "numa_cpus.node0", "0-3"},
                                         {node, "numa_cpus.node1", "4-7"},
                                         {node, "gpu_numa.0000:01:00.0", "0"},
                                         {node, "gpu_numa.0000:41:00.0", "0"},
                                         {node, "gpu_numa.0000:81:00.0", "1"},
                                         {node, "gpu_numa.0000:c1:00.0", "1"},
                                         {node, "nic_numa.mlx5_0", "0"},
                                         {node, "nic_rate.mlx5_0", "200 Gb/sec (4X HDR)"},
                                         {node, "gpu_pci.0000:01:00.0", "pci0000:00/0000:00:01.0/0000:01:00.0"},
                                         {node, "gpu_pci.0000:41:00.0", "pci0000:40/0000:40:01.0/0000:41:00.0"},
                                         {node, "gpu_pci.0000:81:00.0", "pci0000:80/0000:80:01.0/0000:81:00.0"},
                                         {node, "gpu_pci.0000:c1:00.0", "pci0000:80/0000:80:03.0/0000:c1:00.0"},
                                         {node, "nic_pci.mlx5_0", "pci0000:40/0000:40:03.0/0000:42:00.0"}});
}

}  // namespace

std::vector<ProfileSpec> ranks_at(const std::vector<At>& places, const char* launcher) {
    using enum format::FactKind;
    std::vector<ProfileSpec> ranks;
    std::set<std::string> hosts;
    for (const At& at : places) {
        ProfileSpec spec;
        spec.rank = static_cast<std::uint32_t>(ranks.size());
        spec.size = static_cast<std::uint32_t>(places.size());
        spec.host = at.host;
        spec.launcher = launcher;
        spec.elapsed_ns = us(at.seconds) * 1000;
        spec.usage_at_start.user_us = 200'000;
        spec.usage_at_start.system_us = 100'000;
        spec.usage.user_us = 200'000 + us(at.busy * at.seconds);
        spec.usage.system_us = 100'000;
        spec.usage.involuntary_switches = static_cast<std::uint64_t>(at.pushed_off * at.seconds);
        spec.processor.first_ran_ns = us(at.ran) * 1000;
        spec.processor.first_waited_ns = us(at.waited) * 1000;
        spec.usage.max_resident_kib = static_cast<std::uint64_t>(at.memory * 1024 * 1024);
        spec.memory_limit = static_cast<std::uint64_t>(at.limit * static_cast<double>(GiB));
        spec.throttled_us_at_start = 5'000'000;
        spec.throttled_us = 5'000'000 + us(at.throttled);
        const auto cores = static_cast<double>(report::NumberList::parse(at.cpus).count());
        if (at.all_busy >= 0)
            spec.allowed = {us(at.all_busy * at.seconds),
                            us((cores - at.all_busy - at.stolen) * at.seconds),
                            us(at.stolen * at.seconds),
                            us(at.busy * at.seconds),
                            us(at.seconds),
                            report::NumberList::parse(at.cpus).count()};
        spec.facts = {
            {process, "cpus_allowed", at.cpus},
            {process, "memory_nodes_allowed", "0-1"},
            {process, "cpu_at_start", std::to_string(report::NumberList::parse(at.cpus).ranges().at(0).first)}};
        if (*at.threads) spec.facts.push_back({environment, "OMP_NUM_THREADS", at.threads});
        if (*at.gpu) spec.facts.push_back({environment, "CUDA_VISIBLE_DEVICES", at.gpu});
        if (hosts.insert(at.host).second) describe_node(spec);
        spec.calls = {collective("MPI_Allreduce", {{.calls = 4, .bytes = 32, .time_ns = 4000}})};
        ranks.push_back(std::move(spec));
    }
    return ranks;
}

}  // namespace mpiprof::test
