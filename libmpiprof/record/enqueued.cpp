// Room for what was enqueued, made once for each communicator.
#include "libmpiprof/record/enqueued.h"

#include "libmpiprof/record/rows.h"

namespace mpiprof {

// Alone on a communicator a rank agrees with all. One that is being made in the background has no size yet.
void EnqueuedCollectives::make_room(Image& image, std::uint16_t index, const format::Communicator& communicator) {
    using format::enqueued_kept;
    const Guard guard(lock_);
    format::EnqueuedCollective*& kept = kept_[index];
    if (kept) return;
    kept = nowhere_;
    if (index == 0 || used_ == most || communicator.size == 1) return;
    format::Table* table = nullptr;
    auto* room = Rows<format::EnqueuedCollective, enqueued_kept>::room_for(image, enqueued_kept, 0, table);
    if (!room) return;
    table->communicator = index;
    __atomic_store_n(&table->used, static_cast<std::uint32_t>(enqueued_kept), __ATOMIC_RELEASE);
    ++used_;
    kept = room;
}

// A communicator that is being made in the background has no size yet, and is asked again.
void EnqueuedPeers::make_room(Image& image, std::uint16_t index, const format::Communicator& communicator) {
    const Guard guard(lock_);
    Room& room = rooms_[index];
    const std::uint32_t members = communicator.size;
    if (room.was_asked_for || index == 0 || members == 0) return;
    room.was_asked_for = true;
    if (members > most_members || used_ + members > most) return;
    format::Table* table = nullptr;
    room.first = Rows<format::EnqueuedPeer, most_members>::room_for(image, members, 0, table);
    if (!room.first) return;
    table->communicator = index;
    __atomic_store_n(&table->used, members, __ATOMIC_RELEASE);
    used_ += members;
    room.members = members;
}

}  // namespace mpiprof
