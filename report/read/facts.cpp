// What the profile says in texts: settings, labels, facts of the process and its node, and counters of the node.
#include "report/read/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <utility>

#include "libmpiprof/format/facts.h"

namespace mpiprof::report {
namespace {

// "<its own clock> <to be added> <at most so wrong>", in nanoseconds.
std::optional<ClockOffset> clock_offset(std::string_view text) {
    std::array<std::int64_t, 3> numbers{};
    const char* at = text.data();
    const char* const end = at + text.size();
    for (std::int64_t& number : numbers) {
        const auto read = std::from_chars(at, end, number);
        if (read.ec != std::errc{} || number == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
        at = read.ptr + (read.ptr != end && *read.ptr == ' ');
    }
    return ClockOffset{numbers[0], numbers[1], static_cast<std::uint64_t>(std::max<std::int64_t>(numbers[2], 0))};
}

std::uint64_t count_in(std::string_view text) {
    std::uint64_t count = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), count);
    return count;
}

// What changed during the run is noted anew: the last value counts.
void take_gpu_fact(Gpu& gpu, const Fact& fact) {
    using namespace format::facts;
    static const std::string entry = std::string(gpu_not_timed) + ".",
                             entry_of_captured = entry + std::string(captured);
    if (fact.name == gpu_times) gpu.source_of_times = fact.value;
    if (fact.name == nccl_plugin_behind) gpu.plugin_behind = fact.value;
    if (fact.name == gpu_records_dropped) gpu.records_dropped = count_in(fact.value);
    if (fact.name == entry_of_captured) gpu.has_captured = count_in(fact.value) != 0;
    if (fact.name == graphs_followed) (fact.value == yes ? gpu.follows_graphs : gpu.misses_graphs) = true;
    if (fact.name.starts_with(entry)) gpu.not_timed[fact.name.substr(entry.size())] = count_in(fact.value);
}

// Of a counter that was set back nothing is known.
std::optional<NodeCounter> events_of(const format::NodeCounter& record) {
    using enum PortEvents::Kind;
    if (record.last < record.at_start) return std::nullopt;
    const bool has_stopped = record.wraps_at != 0 && record.last == record.wraps_at;
    return NodeCounter{std::string(text_of(record.name)), false, record.last - record.at_start,
                       record.wraps != 0 ? unreadable
                       : has_stopped     ? stopped
                                         : counted};
}

void take_fact(Profile& profile, const Fact& fact) {
    using namespace format::facts;
    if (fact.kind == FactKind::process) take_gpu_fact(profile.gpu, fact);
    if (fact.kind == FactKind::process && fact.name == clock_offset_at_start)
        profile.clock_at_start = clock_offset(fact.value);
    if (fact.kind == FactKind::process && fact.name == clock_offset_at_end)
        profile.clock_at_end = clock_offset(fact.value);
    if (fact.kind == FactKind::node) profile.has_peer_memory |= fact.name == nvidia_peermem || fact.name == nv_peer_mem;
}

}  // namespace

void read_settings(Reading& r) {
    r.profile.settings.reserve(r.tables.records(format::TableType::settings));
    r.tables.each<format::Setting>(
        format::TableType::settings, [&](const format::Setting& record, const format::Table&) {
            r.profile.settings.push_back(
                {std::string(text_of(record.name)), std::string(text_of(record.value)),
                 record.source <= 4 ? static_cast<SettingSource>(record.source) : SettingSource::environment});
        });
}

// Of one key the last record counts.
void read_labels(Reading& r) {
    std::map<std::string, std::string> labels;
    r.tables.each<format::Label>(format::TableType::labels, [&](const format::Label& record, const format::Table&) {
        labels[std::string(text_of(record.key))] = text_of(record.value);
    });
    for (auto& [key, value] : labels)
        if (!key.empty()) r.profile.labels.push_back({key, std::move(value), SettingSource::environment});
}

void read_facts(Reading& r) {
    Texts texts(r.tables.bytes());
    r.profile.facts.reserve(r.tables.records(format::TableType::facts));
    r.tables.each<format::Fact>(format::TableType::facts, [&](const format::Fact& record, const format::Table&) {
        const std::string_view value = texts.at(record.value_offset, record.value_length);
        const bool is_known = record.kind >= format::FactKind::process && record.kind <= format::FactKind::environment;
        if (!is_known || value.size() != record.value_length) return;
        r.profile.facts.push_back(
            {static_cast<FactKind>(record.kind), std::string(text_of(record.name)), std::string(value)});
        take_fact(r.profile, r.profile.facts.back());
        if (record.kind == format::FactKind::process && text_of(record.name) == format::facts::not_said)
            r.note(fmt::format("rank {}: not said on standard error, which was a file of the program's own: {}",
                               r.header.rank, value));
    });
}

void read_node_counters(Reading& r) {
    r.tables.each<format::NodeCounter>(
        format::TableType::node_counters, [&](const format::NodeCounter& record, const format::Table&) {
            if (record.unit == format::NodeCounterUnit::events) {
                if (const auto events = events_of(record)) r.profile.node_counters.push_back(*events);
                return;
            }
            const bool is_known =
                record.unit == format::NodeCounterUnit::microjoules || record.unit == format::NodeCounterUnit::bytes;
            // A counter that was set back (a link that was reset) tells nothing.
            const std::uint64_t further = record.last + record.wraps * record.wraps_at;
            if (is_known && further >= record.at_start)
                r.profile.node_counters.push_back({std::string(text_of(record.name)),
                                                   record.unit == format::NodeCounterUnit::microjoules,
                                                   further - record.at_start,
                                                   {}});
        });
}

// There is one; of several the last counts.
void read_network_use(Reading& r) {
    r.tables.each<format::NetworkUse>(
        format::TableType::network_use, [&](const format::NetworkUse& record, const format::Table&) {
            if (record.looks == 0) return;
            RankNetwork network{.libraries = record.libraries,
                                .verbs = record.verbs,
                                .cxi = record.cxi,
                                .hfi1 = record.hfi1,
                                .shared_memory = record.shared_memory,
                                .connections = record.connections,
                                .bytes = record.bytes,
                                .segments = record.segments,
                                .retransmitted = std::min(record.retransmitted, record.segments)};
            for (const auto& name : record.interfaces)
                if (const std::string_view text = text_of(name); !text.empty()) network.interfaces.emplace_back(text);
            for (const std::uint64_t end : record.ends)
                if (end != 0) network.ends.push_back(end);
            std::sort(network.ends.begin(), network.ends.end());
            r.profile.network = std::move(network);
        });
}

}  // namespace mpiprof::report
