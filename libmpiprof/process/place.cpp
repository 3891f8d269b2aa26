// One row per thing to look at. Paths that a kernel or machine does not have are no facts, and no errors.
#include "libmpiprof/process/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/process/invitation.h"
#include "libmpiprof/process/who.h"

namespace mpiprof {
namespace {

using format::FactKind;

constexpr std::uint32_t facts_at_once = 24;
constexpr unsigned most_facts = 512;

// ---- the environment ----

// What others' settings begin with.
constexpr char prefixes[] =
    "OMPI_MCA_\0PMIX_MCA_\0PRTE_MCA_\0UCX_\0FI_\0I_MPI_\0MPICH_\0MPIR_CVAR_\0MV2_\0PSM2_\0PSM3_\0HCOLL_\0SHARP_\0NCCL_\0RCCL_\0"
    "TORCH_NCCL_\0HOROVOD_\0OMP_\0KMP_\0GOMP_\0CUDA_VISIBLE_DEVICES\0CUDA_DEVICE_\0ROCR_VISIBLE_DEVICES\0HIP_VISIBLE_DEVICES\0"
    "SLURM_CPU_BIND\0SLURM_DISTRIBUTION\0SLURM_JOB_NUM_NODES\0SLURM_NTASKS\0SLURM_CPUS_PER_TASK\0SLURM_GPUS\0SLURM_MEM_BIND\0"
    "PBS_NODEFILE\0PALS_CPU_BIND\0MALLOC_\0";

// What a launcher sets for its own bookkeeping, new with each job.
constexpr char noise[] =
    "OMPI_MCA_orte_\0OMPI_MCA_ess\0OMPI_MCA_initial_wdir\0OMPI_MCA_pmix\0PMIX_MCA_mca_base\0OMPI_MCA_shmem_RUNTIME\0";

bool begins_with_one_of(const char* names, const char* text) {
    return any_of(names, [&](const char* name) { return strncmp(text, name, length_of(name)) == 0; });
}

// ---- cgroups ----

// "0::/user.slice" or "4:memory:/x": the path behind the line that names the controller ("" is version 2).
bool cgroup_path(const char* controller, char* path, std::size_t size) {
    char text[4096];
    slurp("/proc/self/cgroup", text, sizeof text);
    for (char* line = text; *line;) {
        char* end = line;
        while (*end && *end != '\n') ++end;
        const char* name = strchr(line, ':');
        const char* group = name ? strchr(name + 1, ':') : nullptr;
        if (group && group < end) {
            const auto length = static_cast<std::size_t>(group - name - 1);
            if (length == length_of(controller) && strncmp(name + 1, controller, length) == 0) {
                snprintf(path, size, "%.*s", static_cast<int>(end - group - 1), group + 1);
                return true;
            }
        }
        line = *end ? end + 1 : end;
    }
    return false;
}

std::uint64_t number_in(const char* text) {
    std::uint64_t number;
    while (*text == ' ') ++text;
    read_number(text, number);
    return number;
}

// A number behind a label in a cgroup's file, or the file's only number. 0 where there is none.
std::uint64_t cgroup_number(const char* controller, const char* mount, const char* file, const char* label) {
    char group[1024], path[1280], text[1024];
    if (!cgroup_path(controller, group, sizeof group)) return 0;
    snprintf(path, sizeof path, "%s%s/%s", mount, group, file);
    slurp(path, text, sizeof text);
    const char* found = *label ? strstr(text, label) : text;
    return found ? number_in(found + length_of(label)) : 0;
}

// ---- the node ----

void record_devices(Image& image, const char* directory, const char* kind, const char* pattern) {
    each_entry(directory, [&](const char* entry) {
        char name[48], path[512], value[64];
        snprintf(path, sizeof path, pattern, entry);
        if (*first_line_of(path, value) == 0) return;
        snprintf(name, sizeof name, "%s.%.36s", kind, entry);
        record_fact(image, FactKind::node, name, value);
    });
}

bool is_hexadecimal(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// Between bridge and device there are addresses alone; what a driver made below it ("mlx5_core.sf.4", "infiniband") is
// no part of it.
void append_addresses(char (&path)[512], const char* link) {
    for (const char* part = link; part; part = strchr(part, '/')) {
        part += *part == '/';
        const char* const address = strncmp(part, "pci", 3) == 0 ? part + 3 : part;
        std::size_t length = 0;
        bool is_address = false;
        for (; part[length] && part[length] != '/'; ++length) is_address |= part[length] == ':';
        if (!is_address || !is_hexadecimal(*address) || (path[0] == 0 && address == part)) continue;
        if (path[0]) append(path, "/");
        append(path, part, length);
    }
}

void record_processor(Image& image) {
    char text[2048];
    slurp("/proc/cpuinfo", text, sizeof text);
    const char* found = strstr(text, "model name\t: ");
    if (!found) return;
    found += length_of("model name\t: ");
    char model[128] = "";
    append(model, found);
    cut(model, "\n");
    record_fact(image, FactKind::node, "processor", model);
}

void record_file(Image& image, FactKind kind, const char* name, const char* path) {
    char value[512];
    if (*first_line_of(path, value)) record_fact(image, kind, name, value);
}

void record_node(Image& image) {
    record_processor(image);
    record_file(image, FactKind::node, "cpus", "/sys/devices/system/cpu/online");
    record_file(image, FactKind::node, "threads_per_core_active", "/sys/devices/system/cpu/smt/active");
    record_file(image, FactKind::node, "siblings_of_cpu0",
                "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list");
    record_file(image, FactKind::node, "clock_source",
                "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    record_devices(image, "/sys/devices/system/node", "numa_cpus", "/sys/devices/system/node/%s/cpulist");
    record_devices(image, "/sys/class/infiniband", "nic_numa", "/sys/class/infiniband/%s/device/numa_node");
    record_devices(image, "/sys/class/infiniband", "nic_rate", "/sys/class/infiniband/%s/ports/1/rate");
    record_devices(image, "/sys/class/cxi", "nic_numa", "/sys/class/cxi/%s/device/numa_node");
    record_devices(image, "/sys/class/net", "net_mbit", "/sys/class/net/%s/speed");
    record_devices(image, "/proc/driver/nvidia/gpus", "gpu_numa", "/sys/bus/pci/devices/%s/numa_node");
    record_devices(image, "/sys/class/kfd/kfd/topology/nodes", "kfd_gpu",
                   "/sys/class/kfd/kfd/topology/nodes/%s/gpu_id");
    record_pci_paths(image, "/proc/driver/nvidia/gpus", "gpu_pci", "/sys/bus/pci/devices/%s");
    record_pci_paths(image, "/sys/class/infiniband", "nic_pci", "/sys/class/infiniband/%s");
    record_pci_paths(image, "/sys/class/cxi", "nic_pci", "/sys/class/cxi/%s");
}

format::Table* facts = nullptr;  // guarded by the runtime's lock, like all of start
unsigned recorded = 0;

}  // namespace

void record_fact(Image& image, FactKind kind, const char* name, const char* value) {
    if (recorded == most_facts) return count_drop(image.header().drops.strings);
    std::size_t length = length_of(value);
    const std::uint64_t offset = image.add_string(value, length);
    auto* fact = static_cast<format::Fact*>(
        image.next_record(facts, format::TableType::facts, sizeof(format::Fact), facts_at_once, 0));
    if (!fact) return count_drop(image.header().drops.strings);
    copy(fact->name, name);
    fact->kind = kind;
    fact->value_offset = offset;
    fact->value_length = static_cast<std::uint32_t>(length);
    Image::publish(facts);
    ++recorded;
}

void record_pci_paths(Image& image, const char* directory, const char* kind, const char* pattern) {
    each_entry(directory, [&](const char* entry) {
        char name[48], at[512], link[512], path[512] = "";
        snprintf(at, sizeof at, pattern, entry);
        link_text(at, link, sizeof link);
        append_addresses(path, link);
        if (path[0] == 0) return;
        snprintf(name, sizeof name, "%s.%.36s", kind, entry);
        record_fact(image, FactKind::node, name, path);
    });
}

void record_place(Image& image, bool describes_node) {
    char value[1024];
    status_line("Cpus_allowed_list:\t", value, sizeof value);
    record_fact(image, FactKind::process, "cpus_allowed", value);
    status_line("Mems_allowed_list:\t", value, sizeof value);
    record_fact(image, FactKind::process, "memory_nodes_allowed", value);
    unsigned cpu = 0;
    if (raw(SYS_getcpu, raw_address(&cpu)) == 0) {
        snprintf(value, sizeof value, "%u", cpu);
        record_fact(image, FactKind::process, "cpu_at_start", value);
    }
    if (describes_node) record_node(image);
}

void record_environment(Image& image) {
    for (char** variable = environ; variable && *variable; ++variable) {
        const char* equals = strchr(*variable, '=');
        if (!equals || !begins_with_one_of(prefixes, *variable) || begins_with_one_of(noise, *variable)) continue;
        char name[sizeof(format::Fact::name)] = "";
        append(name, *variable, static_cast<std::size_t>(equals - *variable));
        if (strcmp(name, "NCCL_PROFILER_PLUGIN") == 0 && is_invitation(equals + 1)) continue;  // ours, not the user's
        record_fact(image, FactKind::environment, name,
                    looks_secret(*variable, static_cast<std::size_t>(equals - *variable)) ? "***" : equals + 1);
    }
}

CgroupUse cgroup_use() {
    CgroupUse use{};
    use.throttled_us = cgroup_number("", "/sys/fs/cgroup", "cpu.stat", "throttled_usec ");
    if (use.throttled_us == 0)
        use.throttled_us =
            cgroup_number("cpu,cpuacct", "/sys/fs/cgroup/cpu,cpuacct", "cpu.stat", "throttled_time ") / 1000;
    use.memory_limit = cgroup_number("", "/sys/fs/cgroup", "memory.max", "");
    if (use.memory_limit == 0)
        use.memory_limit = cgroup_number("memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "");
    if (use.memory_limit > std::uint64_t{1} << 60) use.memory_limit = 0;  // version 1's way to say "none"
    return use;
}

}  // namespace mpiprof
