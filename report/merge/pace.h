// PacePart: the kept collectives of one rank, on the communicator that it makes most of them on. A part of a merge. All
// members of a communicator make them in the same order, so one rank says how fast all of them go on.
#pragma once

#include "report/merge/rank_profile.h"
#include "report/model/pace.h"

namespace mpiprof::report {

class PacePart {
  public:
    void add(const RankProfile& from);
    void absorb(PacePart&& other);
    // Into Job::pace.
    void finish(Finishing& end);

  private:
    void take(Pace&& pace);

    Pace pace_;  // of the lowest rank that has one
};

}  // namespace mpiprof::report
