// Tables of a valid file do not overlap, so together they are no larger than the file: this bounds what a hostile
// directory can make us read.
#include "report/read/tables.h"

#include <fmt/format.h>

#include "report/read/header.h"

namespace mpiprof::report {

using format::Directory;
using format::Table;

Tables::Tables(ByteSpan bytes, std::string_view path, const format::Header& header)
    : bytes_(bytes),
      path_(path),
      directory_(header.directory_offset),
      is_cut_(ends_on_a_full_disk(header, bytes.size())) {}

tl::unexpected<Problem> Tables::damaged(std::string what) const {
    return problem(path_, "is damaged: " + what, "it is left out");
}

std::uint32_t Tables::records_that_fit(const Table& table) const {
    if (table.offset >= bytes_.size() || table.record_size == 0) return 0;
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>((bytes_.size() - table.offset) / table.record_size, table.used));
}

Result<std::monostate> Tables::collect() {
    std::uint64_t total = 0;
    std::uint64_t blocks = 0;
    for (std::uint64_t at = directory_; at != 0;) {
        if (!lies_within(at, sizeof(Directory), bytes_.size()) || ++blocks > bytes_.size() / sizeof(Directory))
            return damaged("its directory points outside the file");
        const auto block = load_prefix<Directory>(bytes_.data() + at, sizeof(Directory));
        const std::uint64_t entries = at + sizeof(Directory);
        if (block.used > block.capacity ||
            !lies_within(entries, std::uint64_t{block.used} * sizeof(Table), bytes_.size()))
            return damaged("its directory is larger than the file");
        tables_.reserve(tables_.size() + block.used);
        for (std::uint32_t i = 0; i < block.used; ++i) {
            auto table = load_prefix<Table>(bytes_.data() + entries + i * sizeof(Table), sizeof(Table));
            if (is_cut_ && (table.used = records_that_fit(table)) == 0) continue;
            if (table.type == format::TableType::none) continue;  // being published when the rank ended
            const std::uint64_t length = std::uint64_t{table.used} * table.record_size;
            if (table.record_size == 0 || table.used > table.capacity ||
                !lies_within(table.offset, length, bytes_.size()))
                return damaged(fmt::format("table {} of its directory lies outside the file", tables_.size()));
            total += length;
            if (total > bytes_.size()) return damaged("its tables overlap");
            tables_.push_back(table);
        }
        at = is_cut_ && block.next >= bytes_.size() ? 0 : block.next;
    }
    return std::monostate{};
}

std::size_t Tables::records(format::TableType type) const {
    std::size_t n = 0;
    for (const Table& table : tables_)
        if (table.type == type) n += table.used;
    return n;
}

}  // namespace mpiprof::report
