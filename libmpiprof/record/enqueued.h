// The newest collectives that this rank enqueued on each communicator of NCCL's, what they were given and from where
// (format/layout.h): NCCL's calls return before anything has happened, so where its ranks part shows in nothing else.
// Filled by nccl/ when such a call has returned; the first communicators that make such calls have room for it.
#pragma once

#include "libmpiprof/record/communicator_table.h"

namespace mpiprof {

class EnqueuedCollectives {
  public:
    // Whether the first collective of this communicator's has been met; make_room() makes it so.
    bool has_room(std::uint16_t index) const { return kept_[index] != nullptr; }
    void make_room(Image& image, std::uint16_t index, const format::Communicator& communicator);
    // Then: where the next one is written, before it is counted.
    format::EnqueuedCollective& next(std::uint16_t index, const CommunicatorTable::Counted& communicator) {
        return kept_[index][communicator.collectives % format::enqueued_kept];
    }

  private:
    static constexpr unsigned most = 64;  // communicators, 8 KiB each; a trainer has up to fifty
    format::EnqueuedCollective* kept_[CommunicatorTable::most] = {};
    format::EnqueuedCollective nowhere_[format::enqueued_kept] = {};  // of those that have no room
    unsigned used_ = 0;
    Lock lock_;
};

}  // namespace mpiprof
