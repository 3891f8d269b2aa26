/* A libnvidia-ml.so.1 of four GPUs, as strict as NVML's documentation: nothing answers before nvmlInit_v2, handles and
 * links are checked, and of a link that is down nothing but that is known. GPUs 0 and 1 have two NVLinks, 0 and 2 one,
 * 3 none; with FAKE_NVML=switch all have 18 to a switch. FAKE_NVML=uninitialized: nvmlInit_v2 fails, as without a
 * driver. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { success = 0, uninitialized = 1, invalid_argument = 2, not_supported = 3, driver_not_loaded = 9 };
enum { gpus = 4, links = 18 };
typedef struct {
    char legacy_bus_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
} pci_info;
static int is_up;
static const unsigned char buses[gpus] = {0x06, 0x07, 0x0a, 0x86};

static int is(const char* what) {
    const char* mode = getenv("FAKE_NVML");
    return mode && strcmp(mode, what) == 0;
}
static int index_of(void* gpu) { return (int)((size_t)gpu >> 4) - 1; }
static int check(void* gpu, unsigned link) {
    if (!is_up) return uninitialized;
    return index_of(gpu) < 0 || index_of(gpu) >= gpus || link >= links ? invalid_argument : success;
}
static void describe(int gpu, pci_info* info) {
    memset(info, 0, sizeof *info);
    info->bus = buses[gpu];
    snprintf(info->legacy_bus_id, sizeof info->legacy_bus_id, "0000:%02X:00.0", info->bus);
    snprintf(info->bus_id, sizeof info->bus_id, "00000000:%02X:00.0", info->bus);
}
/* The GPU at the other end; -1: the link is down. */
static int remote_of(int gpu, unsigned link) {
    static const int ends[gpus][3] = {{1, 2, 1}, {0, -1, 0}, {0, -1, -1}, {-1, -1, -1}};
    return is("switch") ? gpus : link < 3 ? ends[gpu][link] : -1;
}

int nvmlInit_v2(void) {
    if (is("uninitialized")) return driver_not_loaded;
    is_up = 1;
    return success;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
    if (!is_up) return uninitialized;
    *count = gpus;
    return success;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** gpu) {
    if (!is_up) return uninitialized;
    if (index >= gpus) return invalid_argument;
    *gpu = (void*)((size_t)(index + 1) << 4);
    return success;
}
int nvmlDeviceGetPciInfo_v3(void* gpu, pci_info* info) {
    const int wrong = check(gpu, 0);
    if (wrong) return wrong;
    describe(index_of(gpu), info);
    return success;
}
int nvmlDeviceGetNvLinkState(void* gpu, unsigned link, int* is_active) {
    const int wrong = check(gpu, link);
    if (wrong) return wrong;
    if (index_of(gpu) == 3 && !is("switch")) return not_supported;
    *is_active = remote_of(index_of(gpu), link) >= 0;
    return success;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* gpu, unsigned link, pci_info* info) {
    const int wrong = check(gpu, link);
    if (wrong) return wrong;
    const int remote = remote_of(index_of(gpu), link);
    if (remote < 0 || remote >= gpus) return not_supported;
    describe(remote, info);
    return success;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(void* gpu, unsigned link, int* kind) {
    const int wrong = check(gpu, link);
    if (wrong) return wrong;
    const int remote = remote_of(index_of(gpu), link);
    if (remote < 0) return not_supported;
    *kind = remote == gpus ? 2 : 0;
    return success;
}

/* ---- what NCCL asks beside that ---- */

const char* nvmlErrorString(int result) { return result ? "an error of the double" : "success"; }
int nvmlShutdown(void) { return success; }
int nvmlDeviceGetHandleByPciBusId(const char* bus_id, void** gpu) {
    pci_info info;
    for (int i = 0; i < gpus; ++i) {
        describe(i, &info);
        if (strcasecmp(info.legacy_bus_id, bus_id) == 0) return nvmlDeviceGetHandleByIndex_v2((unsigned)i, gpu);
    }
    return invalid_argument;
}
int nvmlDeviceGetHandleByIndex(unsigned index, void** gpu) { return nvmlDeviceGetHandleByIndex_v2(index, gpu); }
int nvmlDeviceGetIndex(void* gpu, unsigned* index) { return *index = (unsigned)index_of(gpu), check(gpu, 0); }
int nvmlDeviceGetCudaComputeCapability(void* gpu, int* major, int* minor) {
    *major = 9;
    *minor = 0;
    return check(gpu, 0);
}
int nvmlDeviceGetP2PStatus(void* gpu, void* other, int what, int* status) {
    (void)other, (void)what;
    *status = 0; /* supported */
    return check(gpu, 0);
}
int nvmlDeviceGetFieldValues(void* gpu, int n, void* values) { return (void)gpu, (void)n, (void)values, not_supported; }
int nvmlDeviceGetNvLinkRemotePciInfo(void* gpu, unsigned link, pci_info* info) {
    return nvmlDeviceGetNvLinkRemotePciInfo_v2(gpu, link, info);
}
int nvmlDeviceGetNvLinkCapability(void* gpu, unsigned link, int what, unsigned* can) {
    *can = what == 0;
    return check(gpu, link);
}
int nvmlDeviceGetCurrPcieLinkGeneration(void* gpu, unsigned* generation) { return *generation = 5, check(gpu, 0); }
int nvmlDeviceGetCurrPcieLinkWidth(void* gpu, unsigned* width) { return *width = 16, check(gpu, 0); }
int nvmlDeviceGetPcieLinkMaxSpeed(void* gpu, unsigned* speed) { return *speed = 32000, check(gpu, 0); }
