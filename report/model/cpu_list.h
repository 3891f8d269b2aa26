// A set of processors (or NUMA nodes) as the kernel writes it: "0-3,8". Text that is no such list is the empty set.
// Ranges, not bits: a hostile list of four billion processors costs nothing.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mpiprof::report {

class CpuList {
  public:
    struct Range {
        std::uint32_t first;
        std::uint32_t last;  // inclusive
        auto operator<=>(const Range&) const = default;
    };

    CpuList() = default;
    static CpuList parse(std::string_view text);

    bool empty() const { return ranges_.empty(); }
    std::uint64_t count() const;
    std::uint64_t overlap(const CpuList& other) const;  // how many are in both
    bool contains(const CpuList& other) const { return overlap(other) == other.count(); }
    void add(const CpuList& other);
    std::string text() const;
    const std::vector<Range>& ranges() const { return ranges_; }  // ascending; they neither touch nor overlap
    auto operator<=>(const CpuList&) const = default;

  private:
    void settle();
    std::vector<Range> ranges_;
};

}  // namespace mpiprof::report
