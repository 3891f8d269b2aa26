// A few places each.
#include "report/merge/kept_steps.h"

#include <map>

namespace mpiprof::report {
namespace {

// Where calls of this site are made from.
Spot spot_of_site(const Profile& profile, std::uint32_t site) {
    const Frame* line = profile.line_of(site);
    return line ? spot_of(profile, *line) : Spot{};
}

}  // namespace

KeptSteps kept_steps(const RankProfile& from, const KeptCalls& kept) {
    const Profile& profile = from.profile;
    KeptSteps result{.spots = {Spot{}}};
    std::map<std::uint32_t, std::uint32_t> spots;  // by site
    for (const KeptCall& call : kept.calls) {
        const auto [found, is_new] = spots.try_emplace(call.site, 0);
        if (const Spot spot = is_new ? spot_of_site(profile, call.site) : Spot{}; spot.offset != 0) {
            found->second = static_cast<std::uint32_t>(result.spots.size());
            result.spots.push_back(spot);
        }
        result.steps.push_back({.number = call.number,
                                .root = profile.calls[call.call].has_root ? call.root : any_rank,
                                .call = from.calls[call.call],
                                .place = found->second,
                                .word = profile.calls[call.call].order_word,
                                .given = call.given});
    }
    return result;
}

std::vector<OrderedStep> steps_of(const KeptSteps& kept, Finishing& end) {
    std::vector<std::uint32_t> places;
    for (const Spot& spot : kept.spots) places.push_back(place_of(end.job, spot));
    std::vector<OrderedStep> steps = kept.steps;
    for (OrderedStep& step : steps) {
        step.call = end.order[step.call];
        step.place = places[step.place];
    }
    return steps;
}

}  // namespace mpiprof::report
