// The part `pace`: the kept collectives of one rank, on the communicator that it makes most of them on. All members of
// a communicator make them in the same order, so one rank says how fast all of them go on. The lowest rank that has
// some counts: the result does not depend on the order of merging.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "report/merge/part.h"
#include "report/model/pace.h"

namespace mpiprof::report {
namespace {

class PacePart {
  public:
    void add(const RankProfile& from);
    unsigned thinning(const Profile& profile, const Communicator&) const {
        return is_lowest(profile.rank) ? 0 : no_kept_calls;
    }
    void absorb(PacePart&& other) { take(std::move(other.pace_)); }
    void finish(Finishing& end) {
        for (PacedCall& call : pace_.calls) call.call = end.order[call.call];
        end.job.pace = std::move(pace_);
    }

  private:
    bool is_lowest(std::uint32_t rank) const { return pace_.calls.empty() || rank <= pace_.rank; }
    void take(Pace&& pace) {
        if (pace.calls.empty()) return;
        if (pace_.calls.empty() || pace.rank < pace_.rank) pace_ = std::move(pace);
    }

    Pace pace_;  // of the lowest rank that has one
};

void PacePart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    if (!is_lowest(profile.rank)) return;
    const auto collectives = [&](const KeptCalls& kept) {
        return profile.communicators[kept.communicator].collectives;
    };
    const auto most =
        std::max_element(profile.kept_calls.begin(), profile.kept_calls.end(),
                         [&](const KeptCalls& a, const KeptCalls& b) { return collectives(a) < collectives(b); });
    if (most == profile.kept_calls.end()) return;
    Pace pace{
        .rank = profile.rank, .comm = profile.communicators[most->communicator].id, .collectives = collectives(*most)};
    const auto start = static_cast<std::int64_t>(std::min(profile.started_monotonic_ns, std::uint64_t{1} << 58));
    for (const KeptCall& call : most->calls)
        pace.calls.push_back({.number = call.number,
                              .begin_ns = call.begin_ns - start,
                              .place = from.site_keys.of(call.call, call.site),
                              .call = from.calls[call.call]});
    take(std::move(pace));
}

}  // namespace

std::unique_ptr<MergePart> pace_part() { return std::make_unique<PartOf<PacePart>>(); }

}  // namespace mpiprof::report
