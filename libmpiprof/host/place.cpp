// One row per thing to look at. Paths that a kernel or machine does not have are no facts, and no errors.
#include "libmpiprof/host/place.h"

#include <stdio.h>
#include <string.h>

#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/format/facts.h"
#include "libmpiprof/host/facts.h"
#include "libmpiprof/host/network_ports.h"

namespace mpiprof {
namespace {

using format::FactKind;

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
    record_fact(image, FactKind::node, format::facts::processor, model);
}

void record_file(Image& image, FactKind kind, const char* name, const char* path) {
    char value[512];
    if (*first_line_of(path, value)) record_fact(image, kind, name, value);
}

void record_node(Image& image) {
    record_processor(image);
    record_file(image, FactKind::node, format::facts::cpus, "/sys/devices/system/cpu/online");
    record_file(image, FactKind::node, "threads_per_core_active", "/sys/devices/system/cpu/smt/active");
    record_file(image, FactKind::node, "siblings_of_cpu0",
                "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list");
    record_file(image, FactKind::node, "clock_source",
                "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    record_devices(image, "/sys/devices/system/node", format::facts::numa_cpus, "/sys/devices/system/node/%s/cpulist");
    record_devices(image, "/sys/class/infiniband", format::facts::nic_numa,
                   "/sys/class/infiniband/%s/device/numa_node");
    record_devices(image, "/sys/class/infiniband", format::facts::nic_rate, "/sys/class/infiniband/%s/ports/1/rate");
    record_devices(image, "/sys/class/cxi", format::facts::nic_numa, "/sys/class/cxi/%s/device/numa_node");
    record_devices(image, "/sys/class/net", format::facts::net_mbit, "/sys/class/net/%s/speed");
    record_devices(image, "/proc/driver/nvidia/gpus", format::facts::gpu_numa, "/sys/bus/pci/devices/%s/numa_node");
    record_devices(image, "/sys/class/kfd/kfd/topology/nodes", format::facts::kfd_gpu,
                   "/sys/class/kfd/kfd/topology/nodes/%s/gpu_id");
    record_network_ports(image);
    // Through these adapters reach the memory of GPUs (GPUDirect RDMA).
    record_file(image, FactKind::node, format::facts::nvidia_peermem, "/sys/module/nvidia_peermem/initstate");
    record_file(image, FactKind::node, format::facts::nv_peer_mem, "/sys/module/nv_peer_mem/initstate");
    record_pci_paths(image, "/proc/driver/nvidia/gpus", format::facts::gpu_pci, "/sys/bus/pci/devices/%s");
    record_pci_paths(image, "/sys/class/infiniband", format::facts::nic_pci, "/sys/class/infiniband/%s");
    record_pci_paths(image, "/sys/class/cxi", format::facts::nic_pci, "/sys/class/cxi/%s");
}

}  // namespace

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
    record_fact(image, FactKind::process, format::facts::cpus_allowed, value);
    status_line("Mems_allowed_list:\t", value, sizeof value);
    record_fact(image, FactKind::process, format::facts::memory_nodes_allowed, value);
    unsigned cpu = 0;
    if (raw(SYS_getcpu, raw_address(&cpu)) == 0) {
        snprintf(value, sizeof value, "%u", cpu);
        record_fact(image, FactKind::process, format::facts::cpu_at_start, value);
    }
    if (describes_node) record_node(image);
}

}  // namespace mpiprof
