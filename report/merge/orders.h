// OrdersPart: whether the members of each communicator have made the same collectives in one order, and which those
// were that they have kept. A part of a merge: members that agree are added up at once, so a communicator takes a few
// numbers and the kept calls of one member, however many its members are.
#pragma once

#include <cstdint>
#include <map>

#include "report/merge/kept_steps.h"
#include "report/merge/rank_profile.h"
#include "report/model/hanging.h"
#include "report/model/profile.h"

namespace mpiprof::report {

class OrdersPart {
  public:
    void add(const RankProfile& from);
    void absorb(OrdersPart&& other);
    // Into Job::orders, places and modules.
    void finish(Finishing& end);

  private:
    using Key = std::pair<std::uint64_t, std::uint64_t>;  // collectives, order
    struct Sequence {
        std::uint32_t first_rank = 0;
        KeptSteps kept{};
    };
    struct Entry {
        Orders orders;  // without its members
        std::uint32_t members = 0;
        std::map<Key, Sequence> sequences;  // of those that agree
    };
    bool wants_steps(std::uint64_t id, const Key& key, std::uint32_t rank) const;
    void take(std::uint64_t id, Entry&& entry);

    std::map<std::uint64_t, Entry> entries_;  // by id
    std::size_t steps_ = 0;
    bool has_holes_ = false;
};

}  // namespace mpiprof::report
