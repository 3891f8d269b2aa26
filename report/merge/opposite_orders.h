// OppositeOrdersPart: pairs of NCCL's communicators on which two ranks that are members of both have enqueued in
// opposite orders. A part of a merge: of ranks that have enqueued alike on both one is kept. Only of ranks that are not
// finalized: what ended did not hang.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "report/merge/kept_steps.h"
#include "report/merge/rank_profile.h"

namespace mpiprof::report {

class OppositeOrdersPart {
  public:
    void add(const RankProfile& from);
    void absorb(OppositeOrdersPart&& other);
    // Into Job::opposite_orders, places and modules.
    void finish(Finishing& end);

  private:
    // What one rank has enqueued on both. `before`: for each step of the first how many came before it on the second.
    struct Woven {
        std::uint32_t rank = 0;
        KeptSteps first, second;
        std::vector<std::uint64_t> before;
    };
    using Pair = std::pair<std::uint64_t, std::uint64_t>;  // ids, the lower one first
    static Woven weave(const RankProfile& from, const KeptCalls& first, const KeptCalls& second);
    void take(const Pair& pair, std::uint64_t key, Woven&& woven);

    std::map<Pair, std::map<std::uint64_t, Woven>> pairs_;  // by a hash of what was woven
    std::size_t steps_ = 0;
};

}  // namespace mpiprof::report
