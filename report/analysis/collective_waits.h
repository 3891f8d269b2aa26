// For which ranks one that is inside a collective waits: by what the call has to be given, not by how some MPI makes
// it. A root may leave its Bcast before the others have come, and in a Scan nobody waits for higher ranks; an MPI may
// have them wait all the same, which proves something only where nobody else can move any more. For stuck.cpp and
// hangs.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "report/model/job.h"

namespace mpiprof::report {

class CollectiveWaits {
  public:
    using Ranks = std::set<std::uint32_t>;

    explicit CollectiveWaits(const Job& job);

    // How many collectives of the communicator a rank has come to, the one in hand included; nothing: not known.
    std::optional<std::uint64_t> entered(std::uint32_t group, std::uint32_t rank) const;
    // Of one that will do nothing any more: it has not been in the call that the other one is in, for certain.
    bool lacks(const Standing& standing, std::uint32_t gone) const;
    // Its call cannot end before `other` has come to it. (One with nothing to move may; MPIs leave it at once.)
    bool needs(const Standing& standing, std::uint32_t other) const;
    // Of these members, all but the rank itself, one of which has to act before its call ends. Nothing: the MPI alone
    // may end it, as it may still be moving what it was given. `gone`: ranks that will not come to anything any more.
    std::optional<Ranks> releasers(const Standing& standing, const Ranks& others, const Ranks& gone) const;
    // Whether these have all come to whatever such a rank waits for after it has posted it there.
    bool have_come(const Standing& standing, std::uint32_t group, const Ranks& others, const Ranks& gone) const;

  private:
    // What all members have to be given by all.
    bool needs_everyone(const Call& call) const;
    bool is_beside(const Standing& standing, std::uint32_t other) const;
    std::optional<std::uint32_t> number_of(std::uint32_t group, std::uint32_t rank) const;

    const Job& job_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, const Membership*> members_;  // by group and rank
    std::set<std::pair<std::uint32_t, std::uint32_t>> inside_;                      // the same of who is in one there
};

}  // namespace mpiprof::report
