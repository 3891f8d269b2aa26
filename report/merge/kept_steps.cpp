// Places and modules that the job has already are found again: there are a few.
#include "report/merge/kept_steps.h"

#include <algorithm>
#include <map>

namespace mpiprof::report {

Spot spot_of(const Profile& profile, const Frame& frame) {
    if (frame.module == 0 || frame.module >= profile.modules.size()) return {};
    return {.module = profile.modules[frame.module], .offset = frame.offset};
}

std::uint32_t place_of(Job& job, const Spot& spot) {
    if (spot.offset == 0) return 0;
    const auto module = std::find_if(job.modules.begin() + 1, job.modules.end(), [&](const Module& m) {
        return m.path == spot.module.path && m.build_id == spot.module.build_id;
    });
    const Place wanted{.module = static_cast<std::uint32_t>(module - job.modules.begin()), .offset = spot.offset};
    if (module == job.modules.end())
        job.modules.push_back(spot.module);
    else
        module->take_run(spot.module);
    const auto place = std::find(job.places.begin() + 1, job.places.end(), wanted);
    const auto index = static_cast<std::uint32_t>(place - job.places.begin());
    if (place == job.places.end()) job.places.push_back(wanted);
    return index;
}

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
