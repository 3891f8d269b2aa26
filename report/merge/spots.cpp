// Places and modules that the job has already are found again: there are a few.
#include "report/merge/spots.h"

#include <algorithm>

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
    const auto place = std::find_if(job.places.begin() + 1, job.places.end(), [&](const Place& p) {
        return p.module == wanted.module && p.offset == wanted.offset;
    });
    const auto index = static_cast<std::uint32_t>(place - job.places.begin());
    if (place == job.places.end()) job.places.push_back(wanted);
    return index;
}

}  // namespace mpiprof::report
