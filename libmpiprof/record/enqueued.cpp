// Room for what was enqueued, once for each communicator.
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

}  // namespace mpiprof
