// The tables of a profile on their way into a file: records are added to them with references among tables as record
// numbers; once every table has its place, those become file offsets. For profile_builder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "libmpiprof/format/layout.h"
#include "tests/report/files.h"

namespace mpiprof::test {

template <std::size_t N>
void set_text(char (&field)[N], std::string_view text) {
    std::memcpy(field, text.data(), std::min(text.size(), N - 1));
}

using format::TableType;

template <typename T>
void append(Bytes& bytes, const T& record, std::size_t record_size) {
    const std::size_t at = bytes.size();
    bytes.resize(at + record_size);
    std::memcpy(bytes.data() + at, &record, std::min(sizeof record, record_size));
}

struct TableData {
    format::Table table{};
    Bytes bytes;
};

// One table per type and thread, in order of first use.
class Tables {
  public:
    explicit Tables(std::int32_t growth) : growth_(growth) {}

    template <typename T>
    std::uint32_t add(TableType type, std::uint32_t thread, const T& record) {
        TableData& data = of(type, thread, sizeof(T));
        append(data.bytes, record, data.table.record_size);
        return data.table.used++;
    }
    std::uint32_t add_string(std::string_view text);
    TableData& of(TableType type, std::uint32_t thread, std::size_t record_size);
    std::vector<TableData>& all() { return tables_; }
    [[nodiscard]] std::uint64_t offset_of(TableType type, std::uint32_t thread, std::uint32_t index) const;
    // Gives each table its offset, the first `at`; returns where they end.
    std::uint64_t place(std::uint64_t at);
    // Then: references among tables, record numbers until now, become file offsets.
    void resolve();

  private:
    // Histograms are referred to by offset and read whole, strings are bytes: they only ever grow by new tables.
    [[nodiscard]] std::int32_t growth_of(TableType type) const;
    std::int32_t growth_;
    std::vector<TableData> tables_;
};

}  // namespace mpiprof::test
