// RanksPart: a short record of each of some of a job's ranks. A part of a merge.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/merge/rank_profile.h"
#include "report/model/job.h"
#include "report/model/profile.h"

namespace mpiprof::report {

class RanksPart {
  public:
    void add(const RankProfile& from);
    void absorb(RanksPart&& other);
    // Into Job::ranks, with hosts and nodes. Job::size is known by then.
    void finish(Finishing& end);

  private:
    // Names with numbers, in the order in which they come.
    class Names {
      public:
        std::uint32_t index_of(const std::string& name);
        const std::string& operator[](std::uint32_t index) const { return names_[index]; }
        std::vector<std::string> take() { return std::move(names_); }

      private:
        std::vector<std::string> names_;
        std::unordered_map<std::string, std::uint32_t> index_;
    };

    Rank rank_of(const RankProfile& from);
    void complete_texts();

    std::vector<Rank> ranks_;
    Names hosts_, nodes_;
    std::map<std::uint32_t, RankLine> rank_lines_;  // from mpitrace's text
};

// A killed rank that was never updated while it ran may have lived longer than it could tell: usually the job ended as
// one, so the last sign of life of any rank stands for its end. For a job whose ranks and standings are there.
void extend_killed(Job& job);

}  // namespace mpiprof::report
