// Ranks that are stuck for one another. A rank that is known to wait for certain others alone is stuck if all of these
// are: they stand in calls of which the same is true, or will enter nothing any more. Whoever is outside MPI, has other
// threads that call it, or is in a call of which it is not known whom it waits for, may release others, and proves
// nothing. For deadlocks.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "report/analysis/collective_waits.h"
#include "report/model/job.h"

namespace mpiprof::report {

class Stuck {
  public:
    using Ranks = std::set<std::uint32_t>;

    Stuck(const Job& job, const std::vector<const Standing*>& inside);

    bool empty() const { return stuck_.empty(); }
    const Standing* of(std::uint32_t rank) const;
    std::vector<const Standing*> all() const;
    const Ranks& waits_for(std::uint32_t rank) const { return stuck_.at(rank).others; }
    bool is_gone(std::uint32_t rank) const { return gone_.contains(rank); }
    // The rank that a message is from or to; nobody in particular, or not known.
    std::optional<std::uint32_t> partner(const Message& message) const;
    bool is_member(std::uint32_t rank, std::uint32_t group) const;

  private:
    static constexpr std::uint32_t most_ranks = 1024;  // each is held against each
    struct Waiting {
        const Standing* standing = nullptr;
        Ranks others;
    };

    // All who are in it; nothing where some are not known.
    std::optional<Ranks> others_in(std::uint32_t group, std::uint32_t rank) const;
    // One of these has to do something before the call ends; nothing: it is not known who.
    std::optional<Ranks> releasers(const Standing& standing) const;
    bool fit(const Message& message, std::uint32_t rank, const Message& answer, std::uint32_t by) const;
    // Messages that fit are on their way, and so is a collective that was posted and that all have come to: their ranks
    // go on.
    Ranks in_messages_that_fit() const;
    Ranks in_complete_collectives() const;
    void free(const Ranks& ranks);
    void free_those_that_wait_for_free_ones();

    const Job& job_;
    CollectiveWaits collectives_;
    Ranks gone_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> rank_at_;  // by group and rank in it
    std::map<std::uint32_t, Ranks> members_;
    std::map<std::uint32_t, Waiting> stuck_;
};

}  // namespace mpiprof::report
