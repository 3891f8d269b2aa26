// No header of NVML: handles are words, and structures and numbers are those of its documentation since driver 418.
#include "libmpiprof/gpu/nvlinks.h"

#include <stdio.h>
#include <string.h>

#include "libmpiprof/base/loader.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/format/facts.h"
#include "libmpiprof/gpu/platform.h"
#include "libmpiprof/process/runtime.h"

namespace mpiprof::gpu {
namespace {

constexpr unsigned most_gpus = 64, most_links = 18;  // NVML_NVLINK_MAX_LINKS

struct PciInfo {  // nvmlPciInfo_t
    char legacy_bus_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

enum RemoteKind : int { remote_gpu = 0, remote_npu = 1, remote_switch = 2 };

// These stand in the order of the names.
struct Nvml {
    int (*count)(unsigned* gpus);
    int (*gpu_at)(unsigned index, Word* gpu);
    int (*pci_of)(Word gpu, PciInfo* info);
    int (*link_state)(Word gpu, unsigned link, int* is_active);
    int (*remote_pci)(Word gpu, unsigned link, PciInfo* info);
    int (*remote_kind)(Word gpu, unsigned link, int* kind);  // null before driver 470
};
constexpr char names[] =
    "nvmlDeviceGetCount_v2\0nvmlDeviceGetHandleByIndex_v2\0nvmlDeviceGetPciInfo_v3\0nvmlDeviceGetNvLinkState\0"
    "nvmlDeviceGetNvLinkRemotePciInfo_v2\0?nvmlDeviceGetNvLinkRemoteDeviceType\0";
static_assert(sizeof(Nvml) == 6 * sizeof(void*));

using Address = char[16];

// As the kernel writes it: "0000:41:00.0".
void write_address(const PciInfo& info, Address& address) {
    snprintf(address, sizeof address, "%04x:%02x:%02x.0", info.domain & 0xffff, info.bus & 0xff, info.device & 0xff);
}

// Where the links of one GPU lead, and how many lead there.
struct Neighbours {
    struct Neighbour {
        Address address;
        unsigned links;
    };
    Neighbour list[most_links];
    unsigned count = 0;

    void add(const Address& address) {
        for (unsigned i = 0; i < count; ++i)
            if (strcmp(list[i].address, address) == 0) return void(++list[i].links);
        copy(list[count].address, address);
        list[count++].links = 1;
    }
};

// False: the link is down, or it is not said where it leads.
bool find_remote(const Nvml& nvml, Word gpu, unsigned link, Address& address) {
    int is_active = 0, kind = remote_gpu;
    if (nvml.link_state(gpu, link, &is_active) != success || !is_active) return false;
    if (nvml.remote_kind && nvml.remote_kind(gpu, link, &kind) != success) kind = remote_gpu;
    if (kind == remote_switch) return copy(address, format::facts::nvlink_switch), true;
    PciInfo info{};
    if (kind != remote_gpu || nvml.remote_pci(gpu, link, &info) != success) return false;
    write_address(info, address);
    return true;
}

// The fact nvlinks.<bus address>: "0000:41:00.0 4, switch 18".
void note_links_of(const Nvml& nvml, Word gpu) {
    Neighbours neighbours;
    for (unsigned link = 0; link < most_links; ++link)
        if (Address address; find_remote(nvml, gpu, link, address)) neighbours.add(address);
    PciInfo info{};
    if (neighbours.count == 0 || nvml.pci_of(gpu, &info) != success) return;
    Address address;
    write_address(info, address);
    char name[48], value[512] = "";
    snprintf(name, sizeof name, "%s.%s", format::facts::nvlinks, address);
    for (unsigned i = 0; i < neighbours.count; ++i) {
        char one[40];
        snprintf(one, sizeof one, "%s%s %u", i ? ", " : "", neighbours.list[i].address, neighbours.list[i].links);
        append(value, one);
    }
    runtime.note_fact_of_node(name, value);
}

}  // namespace

void note_nvlinks() {
    static constinit std::atomic<bool> was_asked{false};
    if (was_asked.load(std::memory_order_relaxed) || !loader().dlopen || !runtime.describes_node()) return;
    void* const library = loader().dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_NOLOAD);
    Nvml nvml{};
    unsigned gpus = 0;
    if (!library || !find_functions(library, names, &nvml) || nvml.count(&gpus) != success) return;
    if (was_asked.exchange(true)) return;
    for (unsigned i = 0; i < gpus && i < most_gpus; ++i)
        if (Word gpu = 0; nvml.gpu_at(i, &gpu) == success) note_links_of(nvml, gpu);
}

}  // namespace mpiprof::gpu
