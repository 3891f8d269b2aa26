// The part `waits`: the fastest call of each kind over all ranks, and what each rank spent in them; see floors.h for
// the method.
#include <cstdint>
#include <utility>
#include <vector>

#include "report/merge/floors.h"
#include "report/merge/keyed.h"
#include "report/merge/part.h"

namespace mpiprof::report {
namespace {

class WaitsPart {
  public:
    void add(const RankProfile& from);
    void absorb(WaitsPart&& other) {
        floors_.absorb(std::move(other.floors_));
        append(ranks_, std::move(other.ranks_));
    }
    // Into the rows and ranks of the job, which are there already; and the floors, for sites.
    void finish(Finishing& end);

  private:
    Floors floors_;
    std::vector<WaitSum> of_rank_;  // of the one that is added, so that its memory serves the next
    std::vector<std::pair<std::uint32_t, std::vector<WaitSum>>> ranks_;
};

void WaitsPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    std::vector<WaitSum>& own = of_rank_;
    own.clear();
    for (const Cell& cell : profile.cells)
        if (const auto wait = wait_of(profile, cell, from.calls[cell.call])) add_wait(own, *wait);
    for (const WaitSum& sum : own) floors_.add(sum);
    for (const Histogram& histogram : profile.histograms)  // of Wait and Test they are the ones that these completed
        if (histogram.requests != 0 && profile.calls[histogram.call].traffic != Traffic::completion)
            floors_.add_posting(from.calls[histogram.call]);
    if (!own.empty() && profile.size <= Floors::most_ranks) ranks_.emplace_back(profile.rank, own);
}

void WaitsPart::finish(Finishing& end) {
    end.floors = std::move(floors_);
    if (end.job.is_of_one_node()) end.floors.are_of_one_node();
    for (const auto& [key, floor] : end.floors.fastest()) {
        const auto waiting = end.floors.of({&floor, 1});
        Row& row = end.row_of(key);
        row.waiting_ns += waiting.waiting_ns;
        row.judged_ns += waiting.judged_ns;
    }
    for (const auto& [number, sums] : ranks_) {
        Rank* rank = end.job.find(number);
        const auto waiting = end.floors.of(sums);
        rank->waiting_ns = waiting.waiting_ns;
        rank->judged_ns = waiting.judged_ns;
    }
}

}  // namespace

std::unique_ptr<MergePart> waits_part() { return std::make_unique<PartOf<WaitsPart>>(); }

}  // namespace mpiprof::report
