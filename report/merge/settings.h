// SettingsPart: under which settings of libmpiprof some of a job's ranks ran. A piece of Part, which calls it; ranks
// with the same settings, which mostly are all, are kept once.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "report/model/profile.h"
#include "report/model/setting_row.h"

namespace mpiprof::report {

class SettingsPart {
  public:
    void add(const Profile& profile);
    void absorb(SettingsPart&& other);
    std::vector<SettingRow> finish();

  private:
    struct One {
        std::string name, value;
        SettingSource source;
        auto operator<=>(const One&) const = default;
    };
    std::map<std::vector<One>, std::vector<std::uint32_t>> ranks_;  // who has exactly these
};

}  // namespace mpiprof::report
