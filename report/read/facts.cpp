// What the profile says in texts: settings, labels, facts of the process and its node, and counters of the node.
#include "report/read/reading.h"

#include <map>
#include <utility>

namespace mpiprof::report {
void read_settings(Reading& r) {
    r.profile.settings.reserve(r.tables.records(format::TableType::settings));
    r.tables.each<format::Setting>(
        format::TableType::settings, [&](const format::Setting& record, const format::Table&) {
            r.profile.settings.push_back(
                {std::string(text_of(record.name)), std::string(text_of(record.value)),
                 record.source <= 2 ? static_cast<SettingSource>(record.source) : SettingSource::environment});
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
    r.tables.each<format::Fact>(format::TableType::facts, [&](const format::Fact& record, const format::Table&) {
        const std::string_view value = texts.at(record.value_offset, record.value_length);
        const bool is_known = record.kind >= format::FactKind::process && record.kind <= format::FactKind::environment;
        if (is_known && value.size() == record.value_length)
            r.profile.facts.push_back(
                {static_cast<FactKind>(record.kind), std::string(text_of(record.name)), std::string(value)});
    });
}

void read_node_counters(Reading& r) {
    r.tables.each<format::NodeCounter>(
        format::TableType::node_counters, [&](const format::NodeCounter& record, const format::Table&) {
            const bool is_known =
                record.unit == format::NodeCounterUnit::microjoules || record.unit == format::NodeCounterUnit::bytes;
            // A counter that was set back (a link that was reset) tells nothing.
            const std::uint64_t further = record.last + record.wraps * record.wraps_at;
            if (is_known && further >= record.at_start)
                r.profile.node_counters.push_back({std::string(text_of(record.name)),
                                                   record.unit == format::NodeCounterUnit::microjoules,
                                                   further - record.at_start});
        });
}

}  // namespace mpiprof::report
