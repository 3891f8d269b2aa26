// SettingsPart: under which settings of libmpiprof some of a job's ranks ran. LabelsPart: what they say of the run.
// Parts of a merge; ranks with the same values, which mostly are all, are kept once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "report/merge/rank_profile.h"
#include "report/model/profile.h"
#include "report/model/setting_row.h"

namespace mpiprof::report {

class SharedValues {
  public:
    SharedValues() = default;
    SharedValues(SharedValues&&) = default;  // no copies: last_ranks_ points into ranks_
    SharedValues& operator=(SharedValues&&) = default;
    void add(const std::vector<Setting>& values, std::uint32_t rank);
    void absorb(SharedValues&& other);
    std::vector<SettingRow> rows() const;  // by name

  private:
    std::map<std::vector<Setting>, std::vector<std::uint32_t>> ranks_;  // who has exactly these
    // Those of the rank before, in the order of its profile, which is the next one's, too; and who has them.
    std::vector<Setting> last_;
    std::vector<std::uint32_t>* last_ranks_ = nullptr;
};

class SettingsPart {
  public:
    void add(const RankProfile& from) { values_.add(from.profile.settings, from.profile.rank); }
    void absorb(SettingsPart&& other) { values_.absorb(std::move(other.values_)); }
    void finish(Finishing& end);

  private:
    SharedValues values_;
};

class LabelsPart {
  public:
    void add(const RankProfile& from) { values_.add(from.profile.labels, from.profile.rank); }
    void absorb(LabelsPart&& other) { values_.absorb(std::move(other.values_)); }
    void finish(Finishing& end) { end.job.labels = values_.rows(); }

  private:
    SharedValues values_;
};

}  // namespace mpiprof::report
