// The newest collectives that this rank enqueued on each communicator of NCCL's, what they were given and from where
// (format/layout.h): NCCL's calls return before anything has happened, so where its ranks part shows in nothing else.
// And how many messages it enqueued there to and from each rank. Filled by nccl/ when such a call has returned; the
// first communicators that make such calls have room for it.
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

// How many messages were enqueued to and from each rank of such a communicator. One thread at a time calls with it.
class EnqueuedPeers {
  public:
    // Those with this rank of the communicator; null: there is no room yet, or none is to be had.
    format::EnqueuedPeer* with(std::uint16_t index, int peer) const {
        const Room& room = rooms_[index];
        if (static_cast<unsigned>(peer) >= room.members) [[unlikely]]
            return nullptr;
        format::EnqueuedPeer* const with = room.first + peer;
        if (!with) __builtin_unreachable();  // there is room
        return with;
    }
    void make_room(Image& image, std::uint16_t index, const format::Communicator& communicator);

  private:
    static constexpr unsigned most = 8192;          // records of all communicators, 320 KiB,
    static constexpr unsigned most_members = 1024;  // and of one
    struct Room {
        format::EnqueuedPeer* first;
        unsigned members;  // 0: no room
        bool was_asked_for;
    };
    Room rooms_[CommunicatorTable::most] = {};
    unsigned used_ = 0;
    Lock lock_;
};

}  // namespace mpiprof
