// Adding, absorbing, finishing: the same for each part of parts.def. The calls of a merge are a lock around a table by
// name.
#include "report/merge/partial_merge.h"

#include <algorithm>
#include <tuple>

#include "report/model/sorted.h"
#include "report/model/sums.h"

namespace mpiprof::report {
namespace {

// A killed rank that was never updated while it ran may have lived longer than it could tell: usually the job ended as
// one, so the last sign of life of any rank stands for its end.
void extend_killed(Job& job) {
    std::uint64_t last = 0;
    for (const Rank& rank : job.ranks) last = std::max(last, rank.updated_at_ns);
    for (Rank& rank : job.ranks) {
        if (!rank.is_end_estimated || rank.updated_at_ns == 0 || rank.tells_its_life) continue;
        const std::uint64_t longer = last - rank.updated_at_ns;
        rank.updated_at_ns = last;
        rank.elapsed_ns += longer;
        rank.assumed_ns = longer;
        if (rank.process_ns) rank.process_ns += longer;
        if (rank.in_call && rank.in_call_ns) rank.in_call_ns += longer;
        for (Standing& standing : job.standings)
            if (standing.rank == rank.rank) standing.for_ns += longer;
    }
}

}  // namespace

std::uint16_t CallRegistry::number_of(const Call& call) {
    const std::lock_guard guard(mutex_);
    return static_cast<std::uint16_t>(calls_.index_of(call.name, call));
}

std::vector<std::uint16_t> CallRegistry::finish(Job& job) {
    job.calls = calls_.values();
    sort_by(job.calls, &Call::name);
    std::vector<std::uint16_t> order(job.calls.size());
    for (std::size_t i = 0; i < job.calls.size(); ++i)
        order[calls_.index_of(job.calls[i].name, job.calls[i])] = static_cast<std::uint16_t>(i);
    return order;
}

std::span<const std::uint16_t> CallNumbers::of(const Profile& profile) {
    for (std::size_t i = 0; i < profile.calls.size(); ++i) {
        const Call& call = profile.calls[i];
        if (i < names_.size() && names_[i] == call.name) continue;
        names_.resize(std::max(names_.size(), i + 1));
        numbers_.resize(names_.size());
        names_[i] = call.name;
        numbers_[i] = registry_->number_of(call);
    }
    return std::span(numbers_).first(profile.calls.size());
}

Row& Finishing::row_of(const WaitKey& key) const {
    const auto wanted = std::make_tuple(order[key.call], key.bin, key.buffer);
    return *std::lower_bound(job.rows.begin(), job.rows.end(), wanted, [](const Row& row, const auto& w) {
        return std::tie(row.sum.call, row.sum.bin, row.sum.buffer) < w;
    });
}

PartialMerge::PartialMerge(CallRegistry& registry) : registry_(&registry), numbers_(registry) {
#define PART(name) parts_.push_back(name##_part());
#include "report/merge/parts.def"
#undef PART
}

void PartialMerge::add(const Profile& profile) {
    const std::vector<Sum> sums = sums_of(profile);
    const RankProfile rank{.profile = profile, .calls = numbers_.of(profile), .sums = sums};
    for (const auto& part : parts_) part->add(rank);
}

unsigned PartialMerge::thinning(const Profile& profile, const Communicator& communicator) const {
    unsigned least = no_kept_calls;
    for (const auto& part : parts_) least = std::min(least, part->thinning(profile, communicator));
    return least;
}

void PartialMerge::absorb(PartialMerge&& other) {
    for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i]->absorb(*other.parts_[i]);
    append(problems_, std::move(other.problems_));
}

Job PartialMerge::finish() {
    Job job;
    const std::vector<std::uint16_t> order = registry_->finish(job);
    Finishing end{.job = job, .order = order};
    for (const auto& part : parts_) part->finish(end);
    extend_killed(job);
    std::sort(problems_.begin(), problems_.end());
    job.problems = std::move(problems_);
    return job;
}

}  // namespace mpiprof::report
