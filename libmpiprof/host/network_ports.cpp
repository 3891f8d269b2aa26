// InfiniBand's class, in which RoCE, iWARP, Omni-Path and EFA are, too, and that of Slingshot. A port whose state is
// not told is no fact.
#include "libmpiprof/host/network_ports.h"

#include <stdio.h>
#include <string.h>

#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/format/facts.h"
#include "libmpiprof/host/facts.h"

namespace mpiprof {
namespace {

using format::FactKind;

struct Directory {
    char path[160];
    const char* line(const char* file, char (&text)[64]) const {
        char whole[224];
        snprintf(whole, sizeof whole, "%s/%s", path, file);
        return first_line_of(whole, text);
    }
};

void record_port(Image& image, const char* adapter, const char* number, const char* state, const char* kind,
                 const char* rate) {
    char name[48], value[160];
    if (!state[0] ||
        snprintf(name, sizeof name, "%s.%s/%s", format::facts::port, adapter, number) >= static_cast<int>(sizeof name))
        return;
    snprintf(value, sizeof value, "%s %s %s", state, kind[0] ? kind : "unknown", rate);
    record_fact(image, FactKind::node, name, value);
}

void record_infiniband(Image& image, const char* root, const char* adapter) {
    Directory ports;
    snprintf(ports.path, sizeof ports.path, "%s/sys/class/infiniband/%.64s/ports", root, adapter);
    each_entry(ports.path, [&](const char* number) {
        Directory port;
        char state[64], kind[64], rate[64];
        snprintf(port.path, sizeof port.path, "%.140s/%.16s", ports.path, number);
        const char* const said = port.line("state", state);  // "4: ACTIVE"
        const char* const colon = strchr(said, ' ');
        record_port(image, adapter, number, colon ? colon + 1 : said, port.line("link_layer", kind),
                    port.line("rate", rate));
    });
}

void record_slingshot(Image& image, const char* root, const char* adapter) {
    Directory port;
    char state[64], speed[64];
    snprintf(port.path, sizeof port.path, "%s/sys/class/cxi/%.64s/device/port", root, adapter);
    record_port(image, adapter, "1", port.line("link", state), "Slingshot", port.line("speed", speed));
}

}  // namespace

void record_network_ports(Image& image, const char* root) {
    char path[128];
    const auto each_of = [&](const char* kind, auto visit) {
        snprintf(path, sizeof path, "%s/sys/class/%s", root, kind);
        each_entry(path, visit);
    };
    each_of("infiniband", [&](const char* adapter) { record_infiniband(image, root, adapter); });
    each_of("cxi", [&](const char* adapter) { record_slingshot(image, root, adapter); });
    each_of("infiniband_verbs", [&](const char* entry) {
        Directory device;
        char adapter[64], name[48];
        snprintf(device.path, sizeof device.path, "%s/sys/class/infiniband_verbs/%.32s", root, entry);
        if (!device.line("ibdev", adapter)[0]) return;
        snprintf(name, sizeof name, "%s.%.32s", format::facts::verbs, entry);
        record_fact(image, FactKind::node, name, adapter);
    });
}

}  // namespace mpiprof
