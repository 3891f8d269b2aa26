// The histograms of a profile that a test describes. References are record numbers + 1, as long as profile_tables.h has
// not placed the tables.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "libmpiprof/format/histogram.h"
#include "tests/report/profile_builder.h"
#include "tests/report/profile_tables.h"

namespace mpiprof::test {

class Histograms {
  public:
    Histograms(const ProfileSpec& spec, Tables& tables) : spec_(spec), tables_(tables) {}

    // That of one (call, bin) of a thread, with these (duration, number of calls) added.
    std::uint32_t of(std::uint16_t call, std::uint8_t bin, std::uint32_t thread,
                     const std::vector<std::pair<std::uint64_t, std::uint64_t>>& times);
    void add_requests(const CellSpec& spec, std::uint32_t index);
    void count(std::uint32_t thread, std::uint32_t histogram, format::Position position, std::uint64_t n,
               format::TableType type = format::TableType::histograms);

  private:
    const ProfileSpec& spec_;
    Tables& tables_;
    std::map<std::tuple<std::uint32_t, std::uint16_t, std::uint8_t>, std::uint32_t> histograms_;
};

}  // namespace mpiprof::test
