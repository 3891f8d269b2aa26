// Which field of which record is a reference stands in resolve().
#include "tests/report/profile_tables.h"

#include <stdexcept>

namespace mpiprof::test {

std::uint32_t Tables::add_string(std::string_view text) {
    TableData& data = of(TableType::strings, 0, 1);
    const std::uint32_t at = data.table.used;
    for (const char c : text) data.bytes.push_back(static_cast<std::byte>(c));
    data.table.used += static_cast<std::uint32_t>(text.size());
    return at;
}

TableData& Tables::of(TableType type, std::uint32_t thread, std::size_t record_size) {
    for (TableData& data : tables_)
        if (data.table.type == type && data.table.thread == thread) return data;
    format::Table table{};
    table.type = type;
    table.thread = thread;
    const std::int64_t changed = static_cast<std::int64_t>(record_size) + growth_of(type);
    table.record_size = static_cast<std::uint32_t>(std::max(changed, std::min<std::int64_t>(8, record_size)));
    return tables_.emplace_back(TableData{table, {}});
}

std::uint64_t Tables::offset_of(TableType type, std::uint32_t thread, std::uint32_t index) const {
    for (const TableData& data : tables_)
        if (data.table.type == type && data.table.thread == thread)
            return data.table.offset + std::uint64_t{index} * data.table.record_size;
    throw std::logic_error("reference into a table that does not exist");
}

std::int32_t Tables::growth_of(TableType type) const {
    const bool fixed = type == TableType::strings || type == TableType::histograms ||
                       type == TableType::histogram_blocks || type == TableType::region_durations ||
                       type == TableType::gpu_durations || type == TableType::gpu_sequences;
    return fixed ? 0 : growth_;
}

std::uint64_t Tables::place(std::uint64_t at) {
    for (TableData& data : tables_) {
        at = (at + 7) / 8 * 8;
        data.table.offset = at;
        data.table.capacity = data.table.used;
        at += data.bytes.size();
    }
    return at;
}

void Tables::resolve() {
    for (TableData& data : tables_) {
        const std::uint32_t thread = data.table.thread;
        const auto each = [&data]<typename T>(T, auto change) {
            for (std::uint32_t i = 0; i < data.table.used; ++i) {
                std::byte* at = data.bytes.data() + std::size_t{i} * data.table.record_size;
                const std::size_t n = std::min<std::size_t>(sizeof(T), data.table.record_size);
                T record{};
                std::memcpy(&record, at, n);
                change(record);
                std::memcpy(at, &record, n);
            }
        };
        const auto place_of = [&](TableType type, std::uint32_t number) {
            return number == 0 ? 0 : static_cast<std::uint32_t>(offset_of(type, thread, number - 1) / 8);
        };
        if (data.table.type == TableType::cells)
            each(format::Cell{},
                 [&](format::Cell& cell) { cell.histogram = place_of(TableType::histograms, cell.histogram); });
        if (data.table.type == TableType::regions)
            each(format::Region{}, [&](format::Region& region) {
                region.durations = place_of(TableType::region_durations, region.durations);
            });
        if (data.table.type == TableType::gpu_times)
            each(format::GpuTime{},
                 [&](format::GpuTime& time) { time.histogram = place_of(TableType::gpu_durations, time.histogram); });
        if (data.table.type == TableType::histograms || data.table.type == TableType::region_durations ||
            data.table.type == TableType::gpu_durations)
            each(format::Histogram{}, [&](format::Histogram& histogram) {
                for (std::uint32_t& block : histogram.block) block = place_of(TableType::histogram_blocks, block);
            });
        if (data.table.type == TableType::facts)
            each(format::Fact{}, [&](format::Fact& fact) {
                if (fact.value_length != 0) fact.value_offset += offset_of(TableType::strings, 0, 0);
            });
        if (data.table.type == TableType::modules)
            each(format::Module{}, [&](format::Module& module) {
                if (module.path_length != 0) module.path_offset += offset_of(TableType::strings, 0, 0);
                if (module.function_length != 0) module.function_offset += offset_of(TableType::strings, 0, 0);
            });
    }
}

}  // namespace mpiprof::test
