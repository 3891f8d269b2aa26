// One function for each kind of counter; what is not there is not recorded.
#include "libmpiprof/host/node_counters.h"

#include <stdio.h>

#include <initializer_list>

#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/format/facts.h"

namespace mpiprof {
namespace {

using format::NodeCounter;
using format::NodeCounterUnit;

// "1234 J", "1234": the number in front. False where there is none.
bool read_file_number(const char* path, std::uint64_t& number) {
    char text[64];
    return slurp(path, text, sizeof text) != 0 && read_number(text, number) != text;
}

struct Path {
    char text[160];
    [[gnu::format(printf, 2, 3)]] explicit Path(const char* format, ...) {
        __builtin_va_list arguments;
        __builtin_va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        __builtin_va_end(arguments);
    }
};

}  // namespace

void NodeCounters::add(Image& image, const char* name, NodeCounterUnit unit, const char* path, std::uint64_t scale,
                       std::uint64_t wraps_at) {
    std::uint64_t now = 0;
    if (count_ == most || !read_file_number(path, now)) return;
    NodeCounter* record = rows_.next(image);
    if (!record) return;
    copy(record->name, name);
    record->unit = unit;
    record->wraps_at = wraps_at;
    record->at_start = record->last = now * scale;
    rows_.publish();
    Source& source = sources_[count_++];
    copy(source.path, path);
    source.record = record;
    source.scale = scale;
}

// A RAPL domain ("package-0", "dram"): microjoules, which run over within minutes to days.
void NodeCounters::add_energy(Image& image, const char* root, const char* domain) {
    constexpr char directory[] = "/sys/class/powercap";
    char label[32] = "";
    if (*first_line_of(Path("%s%s/%s/name", root, directory, domain).text, label) == 0) return;
    std::uint64_t range = 0;
    read_file_number(Path("%s%s/%s/max_energy_range_uj", root, directory, domain).text, range);
    // Parts of a package have the same names in each: intel-rapl:1:0 is of package 1.
    const Path name("energy.%s:%s", domain, label);
    add(image, name.text, NodeCounterUnit::microjoules, Path("%s%s/%s/energy_uj", root, directory, domain).text, 1,
        range);
}

// An Ethernet or other interface of the kernel that has a speed: the loopback has none.
void NodeCounters::add_link(Image& image, const char* root, const char* interface) {
    char speed[32];
    if (*first_line_of(Path("%s/sys/class/net/%s/speed", root, interface).text, speed) == 0 || *speed == '-') return;
    for (const char* way : {"tx", "rx"})
        add(image, Path("link.%s.%s", interface, way).text, NodeCounterUnit::bytes,
            Path("%s/sys/class/net/%s/statistics/%s_bytes", root, interface, way).text, 1, 0);
}

// An InfiniBand or RoCE adapter, which the kernel's interfaces do not see: its counters are in words of 4 bytes.
void NodeCounters::add_port(Image& image, const char* root, const char* adapter) {
    constexpr std::uint64_t word = 4;
    const struct {
        char way[4];
        char file[16];
    } ways[]  // no addresses, which would be relocations
        = {{"tx", "port_xmit_data"}, {"rx", "port_rcv_data"}};
    for (const auto& way : ways)
        add(image, Path("link.%s.%s", adapter, way.way).text, NodeCounterUnit::bytes,
            Path("%s/sys/class/infiniband/%s/ports/1/counters/%s", root, adapter, way.file).text, word, 0);
}

void NodeCounters::open(Image& image, const char* root) {
    each_entry(Path("%s/sys/class/powercap", root).text, [&](const char* domain) { add_energy(image, root, domain); });
    add(image, format::facts::energy_node, NodeCounterUnit::microjoules,
        Path("%s/sys/cray/pm_counters/energy", root).text, 1'000'000, 0);
    add(image, format::facts::energy_accelerators, NodeCounterUnit::microjoules,
        Path("%s/sys/cray/pm_counters/accel_energy", root).text, 1'000'000, 0);
    each_entry(Path("%s/sys/class/infiniband", root).text,
               [&](const char* adapter) { add_port(image, root, adapter); });
    each_entry(Path("%s/sys/class/net", root).text, [&](const char* interface) { add_link(image, root, interface); });
}

void NodeCounters::start(const Measured& of) {
    if (count_ == 0 && of.describes_node) return open(of.image);
    update();
    for (unsigned i = 0; i < count_; ++i) {
        NodeCounter& record = *sources_[i].record;
        record.at_start = record.last;
        record.wraps = 0;
    }
}

void NodeCounters::update() {
    for (unsigned i = 0; i < count_; ++i) {
        const Source& source = sources_[i];
        std::uint64_t now = 0;
        if (!read_file_number(source.path, now)) continue;
        now *= source.scale;
        NodeCounter& record = *source.record;
        // Once over between two readings; a counter that runs over more often is lost, as the reading is.
        if (now < record.last && record.wraps_at != 0) record.wraps += 1;
        record.last = now;
    }
}

}  // namespace mpiprof
