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
        trace->head_ = reinterpret_cast<format::TraceHead*>(image.at(table->offset));
        trace->events_ = reinterpret_cast<format::TraceEvent*>(trace->head_ + 1);
        trace->capacity_ = events;
        __atomic_store_n(&table->used, events + 1, __ATOMIC_RELEASE);
        return trace;
    }
    munmap(trace, sizeof(Trace));
    return nullptr;
}

Trace::Channel* Trace::find(const Channel& wanted) {
    const std::uint64_t key =
        wanted.peer | std::uint64_t{wanted.communicator} << 32 | std::uint64_t{wanted.flags} << 48;
    for (std::uint64_t i = mix(key ^ mix(static_cast<std::uint32_t>(wanted.tag) + 1u)) >> 32;; ++i) {
        Channel& c = channels_[i & (channel_capacity_ - 1)];
        if (c.flags == 0) return &c;
        if (c.peer == wanted.peer && c.tag == wanted.tag && c.communicator == wanted.communicator &&
            c.flags == wanted.flags)
            return &c;
    }
}

bool Trace::make_room() {
    if (channels_ && channels_used_ * 2 < channel_capacity_) return true;
    const std::uint32_t capacity = channels_ ? channel_capacity_ * 2 : first_channels;
    if (capacity > most_channels) return false;
    auto* channels = static_cast<Channel*>(private_pages(capacity * sizeof(Channel)));
    if (!channels) return false;
    Channel* old = channels_;
    const std::uint32_t old_capacity = channel_capacity_;
    channels_ = channels;
    channel_capacity_ = capacity;
    for (std::uint32_t i = 0; i < old_capacity; ++i)
        if (old[i].flags != 0) *find(old[i]) = old[i];
    if (old) munmap(old, old_capacity * sizeof(Channel));
    return true;
}

std::uint32_t Trace::next_number(std::uint16_t communicator, const Side& side) {
    const bool is_collective = side.flags & format::trace_collective;
    const bool is_message =
        (side.flags & (format::trace_sends | format::trace_receives)) && side.peer < format::peer_any && side.tag >= 0;
    if (communicator == 0 || (!is_collective && !is_message)) return 0;
    const Channel wanted{side.peer, side.tag, communicator, side.flags, 0};
    // Full: those that are known go on being numbered.
    if (!make_room() && (!channels_ || find(wanted)->flags == 0)) return 0;
    Channel& channel = *find(wanted);
    if (channel.flags == 0) {
        channel = wanted;
        ++channels_used_;
    }
    return ++channel.count;
}

}  // namespace mpiprof
