// SettingsPart: under which settings of libmpiprof some of a job's ranks ran. A part of a merge; ranks
// with the same settings, which mostly are all, are kept once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "report/merge/rank_profile.h"
#include "report/model/profile.h"
#include "report/model/setting_row.h"

namespace mpiprof::report {

class SettingsPart {
  public:
    SettingsPart() = default;
    SettingsPart(SettingsPart&&) = default;  // no copies: last_ranks_ points into ranks_
    SettingsPart& operator=(SettingsPart&&) = default;
    void add(const RankProfile& from);
    void absorb(SettingsPart&& other);
    void finish(Finishing& end);

  private:
    std::map<std::vector<Setting>, std::vector<std::uint32_t>> ranks_;  // who has exactly these
    // Those of the rank before, in the order of its profile, which is the next one's, too; and who has them.
    std::vector<Setting> last_;
    std::vector<std::uint32_t>* last_ranks_ = nullptr;
};

}  // namespace mpiprof::report
