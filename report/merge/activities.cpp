// The part `activities`: when each rank was inside MPI. Of very many ranks it keeps every 2nd, 4th ... so that a job of
// any size fits into memory. Which are kept depends on their numbers alone, never on the order in which they come.
#include <algorithm>
#include <utility>
#include <vector>

#include "report/merge/keyed.h"
#include "report/merge/part.h"
#include "report/model/sorted.h"

namespace mpiprof::report {
namespace {

class ActivitiesPart {
  public:
    void add(const RankProfile& from) {
        const Profile& profile = from.profile;
        if (profile.activity.width_ns <= 0 || profile.rank % stride_ != 0) return;
        ranks_.push_back({.rank = profile.rank, .activity = profile.activity, .pauses = profile.pauses});
        if (ranks_.size() > most) thin_out();
    }
    void absorb(ActivitiesPart&& other) {
        stride_ = std::max(stride_, other.stride_);
        append(ranks_, std::move(other.ranks_));
        thin_out();
    }
    void finish(Finishing& end) {
        sort_by(ranks_, &RankActivity::rank);
        end.job.activities = std::move(ranks_);
        end.job.activity_stride = stride_;
    }

  private:
    static constexpr std::size_t most = 4096;

    void thin_out() {
        const auto is_left_out = [&](const RankActivity& r) { return r.rank % stride_ != 0; };
        std::erase_if(ranks_, is_left_out);
        while (ranks_.size() > most) {
            stride_ *= 2;
            std::erase_if(ranks_, is_left_out);
        }
    }

    std::vector<RankActivity> ranks_;
    std::uint32_t stride_ = 1;  // a power of 2: ranks that it divides are kept
};

}  // namespace

std::unique_ptr<MergePart> activities_part() { return std::make_unique<PartOf<ActivitiesPart>>(); }

}  // namespace mpiprof::report
