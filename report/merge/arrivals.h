// ArrivalsPart: the collectives that all members of a communicator have kept with their times. From them, how long
// ranks waited for each other, in place of what WaitsPart can only estimate, and who came last. A part of a merge.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "report/merge/call_comparison.h"
#include "report/merge/rank_profile.h"

namespace mpiprof::report {

class ArrivalsPart {
  public:
    void add(const RankProfile& from);
    void absorb(ArrivalsPart&& other);
    // Into Job::comparison, and over what WaitsPart has said of the same calls.
    void finish(Finishing& end);

  private:
    struct Communicator {
        std::string name;
        bool is_world = false;
        std::uint32_t size = 0;
        std::uint32_t first_rank = 0;  // whose name it has
        std::vector<MemberCalls> members;
    };
    void take(std::uint64_t id, Communicator&& communicator);

    std::map<std::uint64_t, Communicator> communicators_;  // by id
};

}  // namespace mpiprof::report
