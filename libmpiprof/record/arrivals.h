// The times of some collective calls of each communicator, the same ones on all its members (format/arrivals.h): from
// them the reporter finds who came last. Filled by the ledger when such a call has returned; the first communicators
// that make such calls have room for it. Never waits for anybody, and sends nothing.
#pragma once

#include "libmpiprof/record/communicator_table.h"

namespace mpiprof {

class Arrivals {
  public:
    // A call on this communicator that has returned, and is the next to be kept; it is not counted yet.
    void keep(Image& image, std::uint16_t index, CommunicatorTable::Counted& communicator,
              const format::Arrival& arrival);

  private:
    static constexpr unsigned most = 8;  // communicators
    struct Kept {
        format::Arrival* arrivals;
        unsigned level;
        std::uint16_t communicator;
    };
    Kept* kept_of(Image& image, std::uint16_t index, const format::Communicator& communicator);
    static void halve(Kept& kept);

    Kept kept_[most] = {};
    unsigned used_ = 0;
    Lock lock_;
};

}  // namespace mpiprof
