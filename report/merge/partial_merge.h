// PartialMerge: some of a job's profiles added up, by one thread. It is a list of equal parts, each of which knows one
// subject; adding a profile and absorbing another one are associative and commutative, so ranks may be added in any
// order by any thread. finish() makes the Job of it.
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "report/merge/activities.h"
#include "report/merge/arrivals.h"
#include "report/merge/call_registry.h"
#include "report/merge/comms.h"
#include "report/merge/facts.h"
#include "report/merge/gpu.h"
#include "report/merge/left_over.h"
#include "report/merge/nccl_choices.h"
#include "report/merge/opposite_orders.h"
#include "report/merge/orders.h"
#include "report/merge/origin.h"
#include "report/merge/pace.h"
#include "report/merge/peers.h"
#include "report/merge/ranks.h"
#include "report/merge/regions.h"
#include "report/merge/rows.h"
#include "report/merge/settings.h"
#include "report/merge/sites.h"
#include "report/merge/standings.h"
#include "report/merge/waits.h"
#include "report/model/job.h"
#include "report/model/profile.h"

namespace mpiprof::report {

class PartialMerge {
  public:
    // The registry outlives the PartialMerge and is that of all that absorb each other.
    explicit PartialMerge(CallRegistry& registry) : registry_(&registry), numbers_(registry) {}

    void add(const Profile& profile);
    void absorb(PartialMerge&& other);
    void add_problem(std::string line) { problems_.push_back(std::move(line)); }
    // The sums, sorted; identity (launch, size ...) is that of the lowest rank. This and the registry are empty
    // afterwards.
    Job finish();

  private:
    // In the order in which they finish: a part finds in the Job what those before it have put there.
    using Parts = std::tuple<SettingsPart, LabelsPart, OriginPart, RowsPart, RanksPart, StandingsPart, FactsPart,
                             CommsPart, WaitsPart, ArrivalsPart, SitesPart, PeersPart, RegionsPart, ActivitiesPart,
                             GpuPart, NcclChoicesPart, OrdersPart, OppositeOrdersPart, LeftOverPart, PacePart>;

    CallRegistry* registry_;
    CallNumbers numbers_;
    Parts parts_;
    std::vector<std::string> problems_;
};

}  // namespace mpiprof::report
