// PeersPart: what ranks exchanged with each other, over some of a job's ranks. A part of a
// merge. What it holds is bounded: of each rank the largest peers alone, as
// many as the size of the job allows, which does not depend on any order; the others are added up.
#pragma once

#include <cstdint>
#include <vector>

#include "report/merge/rank_profile.h"
#include "report/model/peers.h"
#include "report/model/profile.h"

namespace mpiprof::report {

class PeersPart {
  public:
    // Of a job; a rank of the largest ones still has `fewest_of_rank`.
    static constexpr std::uint32_t most_pairs = 1u << 20, fewest_of_rank = 32;
    static constexpr std::uint32_t most_of_rank(std::uint32_t size, std::uint32_t pairs = most_pairs) {
        const std::uint32_t each = size != 0 ? pairs / size : pairs;
        return each > fewest_of_rank ? each : fewest_of_rank;
    }

    explicit PeersPart(std::uint32_t pairs = most_pairs) : most_pairs_(pairs) {}

    void add(const RankProfile& from);
    void absorb(PeersPart&& other);
    void finish(Finishing& end);

  private:
    std::uint32_t most_pairs_;
    bool is_recorded_ = false;
    std::uint32_t cut_to_ = 0;
    std::vector<PeerPair> pairs_;  // as they came
    VaguePeers vague_;
    std::vector<VagueRank> vague_ranks_;
};

}  // namespace mpiprof::report
