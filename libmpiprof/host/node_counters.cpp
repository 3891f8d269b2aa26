// One function for each kind of counter; what is not there is not recorded.
#include "libmpiprof/host/node_counters.h"

#include <stdio.h>

#include <initializer_list>

#include "libmpiprof/base/clock.h"
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

// An Ethernet or other interface of the kernel: the loopback has no speed.
bool has_speed(const char* root, const char* interface) {
    char speed[32];
    return *first_line_of(Path("%s/sys/class/net/%s/speed", root, interface).text, speed) != 0 && *speed != '-';
}

// ---- what ports count of trouble ----

constexpr std::uint64_t most_time_ns = 20'000'000;  // for all of them together

struct Event {
    char file[28];
    std::uint8_t bits;  // it stops at the largest number of so many; 64: never
};
// InfiniBand's PortCounters, with the widths that the architecture gives them.
constexpr Event port_events[] = {{"port_xmit_wait", 32},     {"port_xmit_discards", 16}, {"symbol_error", 16},
                                 {"link_error_recovery", 8}, {"link_downed", 8},         {"port_rcv_errors", 16}};
constexpr Event hardware_events[] = {
    {"local_ack_timeout_err", 64}, {"out_of_sequence", 64}, {"packet_seq_err", 64}, {"implied_nak_seq_err", 64},
    {"rnr_nak_retry_err", 64},     {"out_of_buffer", 64},   {"np_cnp_sent", 64},    {"rp_cnp_handled", 64},
    {"rx_icrc_encapsulated", 64},  {"roce_adp_retrans", 64}};
// What Slingshot's driver has of its adapter; # is the number of a traffic class.
constexpr Event slingshot_events[] = {
    {"pct_spt_timeouts", 64},        {"pct_sct_timeouts", 64},        {"pct_tct_timeouts", 64},
    {"pct_retry_srb_requests", 64},  {"pct_no_tct_nacks", 64},        {"pct_no_trs_nacks", 64},
    {"pct_no_mst_nacks", 64},        {"pct_bad_seq_nacks", 64},       {"pct_trs_rsp_nack_drops", 64},
    {"hni_llr_tx_replay_event", 64}, {"hni_llr_rx_replay_event", 64}, {"hni_pcs_uncorrected_cw", 64},
    {"hni_rx_paused_#", 64},         {"hni_tx_paused_#", 64}};
constexpr Event link_events[] = {{"rx_errors", 64},     {"tx_errors", 64},        {"tx_dropped", 64},
                                 {"rx_crc_errors", 64}, {"rx_missed_errors", 64}, {"rx_fifo_errors", 64}};

}  // namespace

void NodeCounters::Source::take(std::uint64_t now) const {
    if (is_of_events()) {
        record->wraps = 0;
        record->last = now;
        return;
    }
    // What stopped tells nothing: it is left out, as what was set back is.
    if (now == stops_at && stops_at != 0) record->at_start = ~std::uint64_t{0};
    now *= scale;
    // Once over between two readings; a counter that runs over more often is lost, as the reading is.
    if (now < record->last && record->wraps_at != 0) record->wraps += 1;
    record->last = now;
}

void NodeCounters::add(Image& image, const char* name, NodeCounterUnit unit, const char* path, std::uint64_t scale,
                       std::uint64_t wraps_at, std::uint64_t stops_at) {
    std::uint64_t now = 0;
    if (count_ == most || length_of(name) >= sizeof(NodeCounter::name) || !read_file_number(path, now) ||
        (unit != NodeCounterUnit::events && stops_at != 0 && now == stops_at))
        return;
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
    source.stops_at = stops_at;
}

void NodeCounters::add_event(Image& image, const char* port, const char* directory, const char* file, unsigned bits) {
    if (nanoseconds(CLOCK_MONOTONIC) > until_ns_) return;
    const std::uint64_t largest = bits < 64 ? (std::uint64_t{1} << bits) - 1 : 0;
    add(image, Path("port.%s.%s", port, file).text, NodeCounterUnit::events, Path("%s/%s", directory, file).text, 1,
        largest, largest);
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

void NodeCounters::add_link(Image& image, const char* root, const char* interface) {
    if (!has_speed(root, interface)) return;
    for (const char* way : {"tx", "rx"})
        add(image, Path("link.%s.%s", interface, way).text, NodeCounterUnit::bytes,
            Path("%s/sys/class/net/%s/statistics/%s_bytes", root, interface, way).text, 1, 0);
}

// A port of an InfiniBand, RoCE or Omni-Path adapter, which the kernel's interfaces do not see: its counters are in
// words of 4 bytes, and old ones have 32 bits and stop there.
void NodeCounters::add_port(Image& image, const char* root, const char* adapter, const char* number) {
    constexpr std::uint64_t word = 4, stops_at = 0xffffffff;
    const struct {
        char way[4];
        char file[16];
    } ways[]  // no addresses, which would be relocations
        = {{"tx", "port_xmit_data"}, {"rx", "port_rcv_data"}};
    // The first is called as its adapter.
    const Path port(number[0] == '1' && !number[1] ? "%s" : "%s/%s", adapter, number);
    for (const auto& way : ways)
        add(image, Path("link.%s.%s", port.text, way.way).text, NodeCounterUnit::bytes,
            Path("%s/sys/class/infiniband/%s/ports/%s/counters/%s", root, adapter, number, way.file).text, word, 0,
            stops_at);
}

// ---- trouble ----

void NodeCounters::add_trouble_of_port(Image& image, const char* root, const char* adapter, const char* number) {
    const Path port("%s/%s", adapter, number), directory("%s/sys/class/infiniband/%s/ports/%s", root, adapter, number);
    for (const Event& event : port_events)
        add_event(image, port.text, Path("%s/counters", directory.text).text, event.file, event.bits);
    for (const Event& event : hardware_events)
        add_event(image, port.text, Path("%s/hw_counters", directory.text).text, event.file, event.bits);
}

void NodeCounters::add_trouble_of_slingshot(Image& image, const char* root, const char* adapter) {
    constexpr char classes = 8;
    const Path port("%s/1", adapter), directory("%s/sys/class/cxi/%s/device/telemetry", root, adapter);
    for (const Event& event : slingshot_events) {
        char file[sizeof event.file];
        copy(file, event.file);
        char& last = file[length_of(file) - 1];
        for (char number = '0', end = last == '#' ? '0' + classes : '1'; number < end; ++number) {
            if (event.file[length_of(event.file) - 1] == '#') last = number;
            add_event(image, port.text, directory.text, file, event.bits);
        }
    }
}

void NodeCounters::add_trouble_of_link(Image& image, const char* root, const char* interface) {
    if (!has_speed(root, interface)) return;
    const Path directory("%s/sys/class/net/%s/statistics", root, interface);
    for (const Event& event : link_events) add_event(image, interface, directory.text, event.file, event.bits);
}

void NodeCounters::open(Image& image, const char* root) {
    each_entry(Path("%s/sys/class/powercap", root).text, [&](const char* domain) { add_energy(image, root, domain); });
    add(image, format::facts::energy_node, NodeCounterUnit::microjoules,
        Path("%s/sys/cray/pm_counters/energy", root).text, 1'000'000, 0);
    add(image, format::facts::energy_accelerators, NodeCounterUnit::microjoules,
        Path("%s/sys/cray/pm_counters/accel_energy", root).text, 1'000'000, 0);
    const Path infiniband("%s/sys/class/infiniband", root), net("%s/sys/class/net", root);
    const auto each_port = [&](auto visit) {
        each_entry(infiniband.text, [&](const char* adapter) {
            each_entry(Path("%s/%s/ports", infiniband.text, adapter).text,
                       [&](const char* number) { visit(adapter, number); });
        });
    };
    each_port([&](const char* adapter, const char* number) { add_port(image, root, adapter, number); });
    each_entry(net.text, [&](const char* interface) { add_link(image, root, interface); });
    until_ns_ = nanoseconds(CLOCK_MONOTONIC) + most_time_ns;
    each_port([&](const char* adapter, const char* number) { add_trouble_of_port(image, root, adapter, number); });
    each_entry(Path("%s/sys/class/cxi", root).text,
               [&](const char* adapter) { add_trouble_of_slingshot(image, root, adapter); });
    each_entry(net.text, [&](const char* interface) { add_trouble_of_link(image, root, interface); });
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

void NodeCounters::update(bool events_too) {
    until_ns_ = nanoseconds(CLOCK_MONOTONIC) + most_time_ns;
    for (unsigned i = 0; i < count_; ++i) {
        const Source& source = sources_[i];
        const bool is_event = source.is_of_events();
        if (is_event && !events_too) continue;
        std::uint64_t now = 0;
        if ((!is_event || nanoseconds(CLOCK_MONOTONIC) < until_ns_) && read_file_number(source.path, now))
            source.take(now);
        else if (is_event)
            source.record->wraps = 1;
    }
}

}  // namespace mpiprof
