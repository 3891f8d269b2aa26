// A set of processors, NUMA nodes or ranks as the kernel and MPIPROF_RANKS write it: "0-3,8". Text that is no such list
// is the empty set. Ranges, not bits: a hostile list of four billion numbers costs nothing.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mpiprof::report {

class NumberList {
  public:
    struct Range {
        std::uint32_t first;
        std::uint32_t last;  // inclusive
        std::uint64_t size() const { return std::uint64_t{last} - first + 1; }
        auto operator<=>(const Range&) const = default;
    };

    NumberList() = default;
    static NumberList parse(std::string_view text);
    static NumberList of(Range range);
    static NumberList of(std::vector<Range> ranges);

    bool empty() const { return ranges_.empty(); }
    std::uint64_t count() const;
    std::uint64_t overlap(const NumberList& other) const;  // how many are in both
    bool contains(const NumberList& other) const { return overlap(other) == other.count(); }
    NumberList within(Range bounds) const;
    void add(const NumberList& other);
    std::string text() const;
    const std::vector<Range>& ranges() const { return ranges_; }  // ascending; they neither touch nor overlap
    auto operator<=>(const NumberList&) const = default;

  private:
    void settle();
    std::vector<Range> ranges_;
};

}  // namespace mpiprof::report
