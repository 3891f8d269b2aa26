// Making the ring, what an event says, and the numbers of messages.
#include "libmpiprof/record/trace.h"

#include <new>

namespace mpiprof {
namespace {

using namespace format;

// Of a flow, which is one of the two of a peer's record: records lie in lines of their own.
std::uint32_t rank_of(const Flow* flow) {
    return reinterpret_cast<const Peer*>(reinterpret_cast<std::uintptr_t>(flow) & ~std::uintptr_t{sizeof(Peer) - 1})
        ->rank;
}

}  // namespace

Trace* Trace::create(Records& records, std::uint32_t thread, std::uint32_t events) {
    Image& image = records.image;
    auto* trace = static_cast<Trace*>(private_pages(sizeof(Trace)));
    if (!trace) return nullptr;
    new (trace) Trace;
    for (; events >= fewest_events; events /= 2) {
        format::Table* table =
            image.add_large_table(format::TableType::trace, sizeof(format::TraceEvent), events + 1, thread);
        if (!table) continue;
        trace->records_ = &records;
        trace->head_ = &image.as<format::TraceHead>(table->offset);
        trace->events_ = reinterpret_cast<format::TraceEvent*>(trace->head_ + 1);
        trace->capacity_ = events;
        __atomic_store_n(&table->used, events + 1, __ATOMIC_RELEASE);
        return trace;
    }
    munmap(trace, sizeof(Trace));
    return nullptr;
}

// ---- events ----

TraceEvent Trace::event_in_hand(const CallInHand& hand, TraceKind kind) const {
    TraceEvent event{};
    event.peer = peer_unknown;
    event.tag = -1;
    event.call = call_of(hand.key());
    event.region = records_->regions.current();
    event.kind = kind;
    return event;
}

void Trace::call(const CallInHand& hand, const Memo& m, Bytes bytes, Ticks ticks, const Side& side, TraceKind kind) {
    const std::uint16_t call = call_of(hand.key());
    Side with = side;
    const Traffic traffic = records_->catalogue.info(call).traffic;
    if (kind == TraceKind::call && (traffic == Traffic::collective || traffic == Traffic::sync))
        with.flags = trace_collective;
    const Cell& cell = *m.cell;
    const std::uint16_t communicator = with.communicator != 0 ? with.communicator : cell.communicator;
    add({.begin = hand.since(),
         .ticks = ticks,
         .bytes = bytes,
         .peer = with.peer,
         .tag = with.tag,
         .sequence = next_number(communicator, with),
         .site = cell.site,
         .call = call,
         .communicator = communicator,
         .region = cell.region,
         .kind = kind,
         .flags = with.flags});
}

void Trace::error(const CallInHand& hand, Ticks ticks) {
    TraceEvent event = event_in_hand(hand, TraceKind::call);
    event.begin = hand.since();
    event.ticks = static_cast<std::int64_t>(ticks) < 0 ? 0 : ticks;
    event.flags = trace_failed;
    add(event);
}

void Trace::start(const CallInHand& hand, Requests::Partner& partner, Ticks since, Bytes bytes) {
    TraceEvent event = event_in_hand(hand, TraceKind::started);
    event.begin = since;
    event.bytes = bytes;
    event.peer = partner.key != 0 ? peer_any : rank_of(partner.flow);
    event.tag = partner.tag;
    event.flags = partner.sends ? trace_sends : trace_receives;
    partner.sequence = next_number(partner.communicator, {event.peer, event.tag, event.flags});
    event.sequence = partner.sequence;
    event.communicator = partner.communicator;
    add(event);
}

void Trace::completion(const CallInHand& hand, Ticks since, Ticks end, Requests::Partner* partner, const Side& side) {
    TraceEvent event = event_in_hand(hand, TraceKind::completed);
    event.begin = since;
    event.ticks = end > since ? end - since : 0;
    if (partner) {
        const bool is_told = partner->key != 0 && side.peer < peer_any;
        event.bytes = partner->bytes;
        event.peer = is_told ? side.peer : partner->key != 0 ? peer_any : rank_of(partner->flow);
        event.tag = is_told ? side.tag : partner->tag;
        event.flags = partner->sends ? trace_sends : trace_receives;
        event.communicator = partner->communicator;
        event.sequence = partner->key != 0 ? next_number(partner->communicator, {event.peer, event.tag, event.flags})
                                           : partner->sequence;
    }
    add(event);
}

void Trace::region(TraceKind kind, std::uint16_t region, Ticks now, std::uint64_t items) {
    TraceEvent event{};
    event.begin = now;
    event.bytes = items;
    event.peer = peer_unknown;
    event.tag = -1;
    event.region = region;
    event.kind = kind;
    add(event);
}

// ---- numbers of messages ----

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
