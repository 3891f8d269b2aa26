// A Job as a whole, and looking things up in it.
#include "report/model/job.h"

#include <algorithm>

namespace mpiprof::report {

Job::Job() = default;
Job::Job(Job&&) noexcept = default;
Job& Job::operator=(Job&&) noexcept = default;
Job::~Job() = default;

std::span<const Sum> Job::cells(std::uint32_t rank) const {
    const auto found = kept_cells.find(rank);
    return found == kept_cells.end() ? std::span<const Sum>{} : std::span<const Sum>(found->second);
}

std::uint32_t Job::named_nodes() const {
    return static_cast<std::uint32_t>(
        std::count_if(nodes.begin(), nodes.end(), [](const std::string& node) { return !node.empty(); }));
}

std::uint32_t Job::ranks_on_named_nodes() const {
    return static_cast<std::uint32_t>(
        std::count_if(ranks.begin(), ranks.end(), [&](const Rank& rank) { return !nodes[rank.node].empty(); }));
}

std::uint32_t Job::profiles() const {
    return static_cast<std::uint32_t>(
        std::count_if(ranks.begin(), ranks.end(), [](const Rank& r) { return r.has_profile; }));
}

bool Job::has(Family family) const {
    return std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return calls[row.sum.call].family == family; });
}

NumberList Job::expected_within(NumberList::Range bounds) const {
    return chosen_ranks.empty() ? NumberList::of(bounds) : chosen_ranks.within(bounds);
}

std::uint32_t Job::expected() const {
    if (is_partial_on_purpose || size == 0) return profiles();
    return static_cast<std::uint32_t>(expected_within({0, size - 1}).count());
}

std::vector<NumberList::Range> Job::missing() const {
    if (size == 0) return {};
    const NumberList wanted = expected_within({0, size - 1});
    std::vector<NumberList::Range> gaps;
    auto rank = ranks.begin();
    for (const NumberList::Range& range : wanted.ranges()) {
        std::uint64_t next = range.first;
        const auto until = [&](std::uint64_t end) {
            if (next < end) gaps.push_back({static_cast<std::uint32_t>(next), static_cast<std::uint32_t>(end - 1)});
        };
        while (rank != ranks.end() && rank->rank < range.first) ++rank;
        for (; rank != ranks.end() && rank->rank <= range.last; ++rank) {
            if (!rank->has_profile) continue;
            until(rank->rank);
            next = std::uint64_t{rank->rank} + 1;
        }
        until(std::uint64_t{range.last} + 1);
    }
    return gaps;
}

}  // namespace mpiprof::report
