// The directory of a profile file: which tables there are, every one checked to lie in the file, and their records one
// by one. For the readers of this room; it knows no record but the directory's own.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "libmpiprof/format/layout.h"
#include "report/model/result.h"
#include "report/read/bytes.h"

namespace mpiprof::report {

class Tables {
  public:
    Tables(ByteSpan bytes, std::string_view path, const format::Header& header);
    // Fails if the directory leads out of the file, or if its tables cannot all be in it.
    Result<std::monostate> collect();

    // Every record of one type in the order of the directory, and the table it is in.
    template <class T, class Use>
    void each(format::TableType type, Use use) const {
        for (const format::Table& table : tables_) {
            if (table.type != type) continue;
            for (std::uint32_t i = 0; i < table.used; ++i) use(record<T>(table, i), table);
        }
    }
    // The i-th, of those in use.
    template <class T>
    T record(const format::Table& table, std::uint32_t i) const {
        return load_prefix<T>(bytes_.data() + table.offset + std::uint64_t{i} * table.record_size, table.record_size);
    }
    std::size_t records(format::TableType type) const;
    const std::vector<format::Table>& all() const { return tables_; }

    ByteSpan bytes() const { return bytes_; }
    // At its end, because the disk was full: what lies behind is missing, and no damage.
    bool is_cut() const { return is_cut_; }
    tl::unexpected<Problem> damaged(std::string what) const;

  private:
    std::uint32_t records_that_fit(const format::Table& table) const;

    ByteSpan bytes_;
    std::string_view path_;
    std::uint64_t directory_;
    bool is_cut_;
    std::vector<format::Table> tables_;
};

// Texts that records refer to. They do not share them, so hostile ones cannot make more text of them than the file
// holds.
class Texts {
  public:
    explicit Texts(ByteSpan bytes) : bytes_(bytes) {}
    // Empty where it is not in the file.
    std::string_view at(std::uint64_t offset, std::uint32_t length) {
        const bool is_sound = lies_within(offset, length, bytes_.size()) && (used_ += length) <= bytes_.size();
        return is_sound ? as_text(bytes_.subspan(offset, length)) : std::string_view();
    }

  private:
    ByteSpan bytes_;
    std::uint64_t used_ = 0;
};

}  // namespace mpiprof::report
