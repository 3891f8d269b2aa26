// Making the ring, and the numbers of messages.
#include "libmpiprof/record/trace.h"

#include <new>

namespace mpiprof {

Trace* Trace::create(Image& image, std::uint32_t thread, std::uint32_t events) {
    auto* trace = static_cast<Trace*>(private_pages(sizeof(Trace)));
    if (!trace) return nullptr;
    new (trace) Trace;
    for (; events >= fewest_events; events /= 2) {
        format::Table* table =
            image.add_large_table(format::TableType::trace, sizeof(format::TraceEvent), events + 1, thread);
        if (!table) continue;
        trace->head_ = &image.as<format::TraceHead>(table->offset);
        trace->events_ = reinterpret_cast<format::TraceEvent*>(trace->head_ + 1);
        trace->capacity_ = events;
        __atomic_store_n(&table->used, events + 1, __ATOMIC_RELEASE);
        return trace;
    }
    munmap(trace, sizeof(Trace));
    return nullptr;
}

std::uint64_t Trace::hash_of(const Channel& c) {
    const std::uint64_t key = c.peer | std::uint64_t{c.communicator} << 32 | std::uint64_t{c.flags} << 48;
    return mix(key ^ mix(static_cast<std::uint32_t>(c.tag) + 1u)) >> 32;
}

std::uint32_t Trace::next_number(std::uint16_t communicator, const Side& side) {
    const bool is_collective = side.flags & format::trace_collective;
    const bool is_message =
        (side.flags & (format::trace_sends | format::trace_receives)) && side.peer < format::peer_any && side.tag >= 0;
    if (communicator == 0 || (!is_collective && !is_message)) return 0;
    const Channel wanted{side.peer, side.tag, communicator, side.flags, 0};
    const std::uint64_t hash = hash_of(wanted);
    Channel* channel = channels_.find(hash, [&](const Channel& c) {
        return c.peer == wanted.peer && c.tag == wanted.tag && c.communicator == wanted.communicator &&
               c.flags == wanted.flags;
    });
    // Full: those that are known go on being numbered.
    if (!channel && channels_.make_room(hash_of)) channel = channels_.insert(hash, wanted);
    return channel ? ++channel->count : 0;
}

}  // namespace mpiprof
