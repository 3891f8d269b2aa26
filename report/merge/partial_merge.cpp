// Adding, absorbing, finishing: the same for each part of the list.
#include "report/merge/partial_merge.h"

#include <algorithm>
#include <iterator>

#include "report/model/sums.h"

namespace mpiprof::report {
namespace {

template <MergePart... Each>
void add_to(std::tuple<Each...>& parts, const RankProfile& rank) {
    std::apply([&](Each&... part) { (part.add(rank), ...); }, parts);
}
template <MergePart... Each>
void absorb_into(std::tuple<Each...>& parts, std::tuple<Each...>& others) {
    (std::get<Each>(parts).absorb(std::move(std::get<Each>(others))), ...);
}
template <MergePart... Each>
void finish_into(std::tuple<Each...>& parts, Finishing& end) {
    std::apply([&](Each&... part) { (part.finish(end), ...); }, parts);
}

}  // namespace

void PartialMerge::add(const Profile& profile) {
    const std::vector<Sum> sums = sums_of(profile);
    add_to(parts_, {.profile = profile, .calls = numbers_.of(profile), .sums = sums});
}

void PartialMerge::absorb(PartialMerge&& other) {
    absorb_into(parts_, other.parts_);
    problems_.insert(problems_.end(), std::make_move_iterator(other.problems_.begin()),
                     std::make_move_iterator(other.problems_.end()));
}

Job PartialMerge::finish() {
    Job job;
    const std::vector<std::uint16_t> order = registry_->finish(job);
    Finishing end{.job = job, .order = order};
    finish_into(parts_, end);
    extend_killed(job);
    std::sort(problems_.begin(), problems_.end());
    job.problems = std::move(problems_);
    return job;
}

}  // namespace mpiprof::report
