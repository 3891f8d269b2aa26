// WaitsPart: the fastest call of each kind and what each rank spent in them, of some of a job's ranks; see floors.h for
// the method. A part of a merge.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "report/merge/floors.h"
#include "report/merge/rank_profile.h"

namespace mpiprof::report {

class WaitsPart {
  public:
    static constexpr std::uint32_t most_ranks = 8192;  // of larger jobs there is no estimate rank by rank
    static constexpr std::size_t most_keys = 65536;    // more come from damaged files alone, and are not judged

    void add(const RankProfile& from);
    void absorb(WaitsPart&& other);
    // Into the rows and ranks of the job, which are there already; and the floors, for sites.
    void finish(Finishing& end);

  private:
    void take(const WaitSum& sum);

    std::map<WaitKey, WaitSum> floors_;
    std::set<std::uint16_t> posting_;
    std::vector<std::pair<std::uint32_t, std::vector<WaitSum>>> ranks_;
};

// Of such calls, when RowsPart has finished.
Row& row_of(const Finishing& end, const WaitKey& key);

}  // namespace mpiprof::report
