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

bool Job::has(Family family) const {
    return std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return calls[row.sum.call].family == family; });
}

std::vector<RankRange> Job::missing() const {
    std::vector<RankRange> gaps;
    std::uint64_t next = 0;
    const auto until = [&](std::uint64_t end) {
        if (next < end) gaps.push_back({static_cast<std::uint32_t>(next), static_cast<std::uint32_t>(end - 1)});
    };
    for (const Rank& rank : ranks) {
        if (!rank.has_profile) continue;
        until(rank.rank);
        next = std::uint64_t{rank.rank} + 1;
    }
    until(size);
    return gaps;
}

}  // namespace mpiprof::report
