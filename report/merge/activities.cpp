// Which ranks are kept depends on their numbers alone, never on the order in which they come.
#include "report/merge/activities.h"

#include <algorithm>
#include <utility>

namespace mpiprof::report {

void ActivitiesPart::thin_out() {
    const auto is_left_out = [&](const RankActivity& r) { return r.rank % stride_ != 0; };
    std::erase_if(ranks_, is_left_out);
    while (ranks_.size() > most) {
        stride_ *= 2;
        std::erase_if(ranks_, is_left_out);
    }
}

void ActivitiesPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    if (profile.activity.width_ns <= 0 || profile.rank % stride_ != 0) return;
    ranks_.push_back({.rank = profile.rank, .activity = profile.activity, .pauses = profile.pauses});
    if (ranks_.size() > most) thin_out();
}

void ActivitiesPart::absorb(ActivitiesPart&& other) {
    stride_ = std::max(stride_, other.stride_);
    std::move(other.ranks_.begin(), other.ranks_.end(), std::back_inserter(ranks_));
    thin_out();
}

void ActivitiesPart::finish(Finishing& end) {
    Job& job = end.job;
    std::sort(ranks_.begin(), ranks_.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
    job.activities = std::move(ranks_);
    job.activity_stride = stride_;
}

}  // namespace mpiprof::report
