// Of ranks with the same number of collectives the lowest counts: the result does not depend on the order of merging.
#include "report/merge/pace.h"

#include <algorithm>
#include <utility>

#include "report/merge/site_keys.h"

namespace mpiprof::report {

void PacePart::take(Pace&& pace) {
    if (pace.calls.empty()) return;
    if (pace_.calls.empty() || pace.rank < pace_.rank) pace_ = std::move(pace);
}

void PacePart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    if (!pace_.calls.empty() && pace_.rank < profile.rank) return;
    const auto collectives = [&](const KeptCalls& kept) {
        return profile.communicators[kept.communicator].collectives;
    };
    const auto most =
        std::max_element(profile.kept_calls.begin(), profile.kept_calls.end(),
                         [&](const KeptCalls& a, const KeptCalls& b) { return collectives(a) < collectives(b); });
    if (most == profile.kept_calls.end()) return;
    SiteKeys keys(profile);
    Pace pace{.rank = profile.rank,
              .comm = profile.communicators[most->communicator].id,
              .collectives = collectives(*most),
              .calls = {}};
    const auto start = static_cast<std::int64_t>(std::min(profile.started_monotonic_ns, std::uint64_t{1} << 58));
    for (const KeptCall& call : most->calls)
        pace.calls.push_back({.number = call.number,
                              .begin_ns = call.begin_ns - start,
                              .place = keys.of(call.call, call.site),
                              .call = from.calls[call.call]});
    take(std::move(pace));
}

void PacePart::absorb(PacePart&& other) { take(std::move(other.pace_)); }

void PacePart::finish(Finishing& end) {
    for (PacedCall& call : pace_.calls) call.call = end.order[call.call];
    end.job.pace = std::move(pace_);
}

}  // namespace mpiprof::report
