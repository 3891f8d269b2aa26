// Each rank's sums, and over all ranks the fastest of each kind.
#include "report/merge/waits.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace mpiprof::report {

void WaitsPart::take(const WaitSum& sum) {
    const auto found = floors_.find(sum.key);
    if (found != floors_.end())
        found->second += sum;
    else if (floors_.size() < most_keys)
        floors_.emplace(sum.key, sum);
}

void WaitsPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    std::vector<WaitSum> own;
    for (const Cell& cell : profile.cells)
        if (const auto wait = wait_of(profile, cell, from.calls[cell.call])) add_wait(own, *wait);
    for (const WaitSum& sum : own) take(sum);
    for (const Histogram& histogram : profile.histograms)  // of Wait and Test they are the ones that these completed
        if (histogram.requests != 0 && profile.calls[histogram.call].traffic != Traffic::completion)
            posting_.insert(from.calls[histogram.call]);
    if (!own.empty() && profile.size <= most_ranks) ranks_.emplace_back(profile.rank, std::move(own));
}

void WaitsPart::absorb(WaitsPart&& other) {
    for (const auto& [key, floor] : other.floors_) take(floor);
    posting_.merge(other.posting_);
    ranks_.insert(ranks_.end(), std::make_move_iterator(other.ranks_.begin()),
                  std::make_move_iterator(other.ranks_.end()));
}

Row& row_of(const Finishing& end, const WaitKey& key) {
    const auto wanted = std::make_tuple(end.order[key.call], key.bin, key.buffer);
    return *std::lower_bound(end.job.rows.begin(), end.job.rows.end(), wanted, [](const Row& row, const auto& w) {
        return std::tie(row.sum.call, row.sum.bin, row.sum.buffer) < w;
    });
}

void WaitsPart::finish(Finishing& end) {
    Job& job = end.job;
    Floors& floors = end.floors;
    floors.floors_ = std::move(floors_);
    floors.posting_ = std::move(posting_);
    for (const auto& [key, floor] : floors.floors_) {
        const auto waiting = floors.of({&floor, 1});
        Row& row = row_of(end, key);
        row.waiting_ns += waiting.waiting_ns;
        row.judged_ns += waiting.judged_ns;
    }
    for (const auto& [number, sums] : ranks_) {
        const auto rank = std::lower_bound(job.ranks.begin(), job.ranks.end(), number,
                                           [](const Rank& r, std::uint32_t wanted) { return r.rank < wanted; });
        const auto waiting = floors.of(sums);
        rank->waiting_ns = waiting.waiting_ns;
        rank->judged_ns = waiting.judged_ns;
    }
}

}  // namespace mpiprof::report
