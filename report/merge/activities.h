// When each rank was inside MPI. A part of a merge. Of very many
// ranks it keeps every 2nd, 4th ... so that a job of any size fits into memory.
#pragma once

#include <vector>

#include "report/merge/rank_profile.h"
#include "report/model/job.h"
#include "report/model/profile.h"

namespace mpiprof::report {

class ActivitiesPart {
  public:
    void add(const RankProfile& from);
    void absorb(ActivitiesPart&& other);
    void finish(Finishing& end);

  private:
    static constexpr std::size_t most = 4096;

    void thin_out();

    std::vector<RankActivity> ranks_;
    std::uint32_t stride_ = 1;  // a power of 2: ranks that it divides are kept
};

}  // namespace mpiprof::report
