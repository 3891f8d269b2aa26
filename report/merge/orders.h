// OrdersPart: whether the members of each communicator have made the same collectives in one order, of ranks that ended
// as they should. A part of a merge: members that agree are added up at once, so a communicator takes a few numbers,
// however many its members are.
#pragma once

#include <cstdint>
#include <map>

#include "report/merge/rank_profile.h"
#include "report/model/hanging.h"
#include "report/model/profile.h"

namespace mpiprof::report {

class OrdersPart {
  public:
    void add(const RankProfile& from);
    void absorb(OrdersPart&& other);
    // Into Job::broken_orders.
    void finish(Finishing& end);

  private:
    using Key = std::pair<std::uint64_t, std::uint64_t>;  // collectives, order
    struct Entry {
        BrokenOrder broken;  // without its members
        std::uint32_t members = 0;
        std::map<Key, std::uint32_t> first_rank;  // of those that agree
    };
    void take(std::uint64_t id, Entry&& entry);

    std::map<std::uint64_t, Entry> entries_;  // by id
    bool has_holes_ = false;
};

}  // namespace mpiprof::report
