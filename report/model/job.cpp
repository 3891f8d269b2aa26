// Looking things up in a Job.
#include "report/model/job.h"

#include <algorithm>

namespace mpiprof::report {

std::span<const Sum> Job::cells(std::uint32_t rank) const {
    const auto found = kept_cells.find(rank);
    return found == kept_cells.end() ? std::span<const Sum>{} : std::span<const Sum>(found->second);
}

const Rank* Job::find(std::uint32_t rank) const {
    const auto found = std::lower_bound(ranks.begin(), ranks.end(), rank,
                                        [](const Rank& entry, std::uint32_t wanted) { return entry.rank < wanted; });
    return found != ranks.end() && found->rank == rank ? &*found : nullptr;
}

std::uint32_t Job::profiles() const {
    return static_cast<std::uint32_t>(
        std::count_if(ranks.begin(), ranks.end(), [](const Rank& r) { return r.has_profile; }));
}

}  // namespace mpiprof::report
