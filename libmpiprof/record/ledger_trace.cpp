// The ledger's side of the trace: what an event says is in the call in hand, its memo and its request.
#include "libmpiprof/record/ledger.h"

namespace mpiprof {
namespace {

using namespace format;

// Of a flow, which is one of the two of a peer's record: records lie in lines of their own.
std::uint32_t rank_of(const Flow* flow) {
    return reinterpret_cast<const Peer*>(reinterpret_cast<std::uintptr_t>(flow) & ~std::uintptr_t{sizeof(Peer) - 1})
        ->rank;
}

}  // namespace

void Ledger::trace_call(const Memo& m, Bytes bytes, Ticks ticks, const Trace::Side& side, TraceKind kind) {
    const std::uint16_t call = call_of(key());
    Trace::Side with = side;
    const Traffic traffic = records_->catalogue.info(call).traffic;
    if (kind == TraceKind::call && (traffic == Traffic::collective || traffic == Traffic::sync))
        with.flags = trace_collective;
    const Cell& cell = *m.cell;
    const std::uint16_t communicator = with.communicator != 0 ? with.communicator : cell.communicator;
    trace_->add({.begin = since(),
                 .ticks = ticks,
                 .bytes = bytes,
                 .peer = with.peer,
                 .tag = with.tag,
                 .sequence = trace_->next_number(communicator, with),
                 .site = cell.site,
                 .call = call,
                 .communicator = communicator,
                 .region = cell.region,
                 .kind = kind,
                 .flags = with.flags});
}

void Ledger::trace_error(Ticks ticks) {
    TraceEvent event{};
    event.begin = since();
    event.ticks = static_cast<std::int64_t>(ticks) < 0 ? 0 : ticks;
    event.peer = peer_unknown;
    event.tag = -1;
    event.call = call_of(key());
    event.region = records_->regions.current();
    event.kind = TraceKind::call;
    event.flags = trace_failed;
    trace_->add(event);
}

void Ledger::trace_start(Requests::Partner& partner, Ticks since, Bytes bytes) {
    TraceEvent event{};
    event.begin = since;
    event.bytes = bytes;
    event.peer = partner.key != 0 ? peer_any : rank_of(partner.flow);
    event.tag = partner.tag;
    event.flags = partner.sends ? trace_sends : trace_receives;
    partner.sequence = trace_->next_number(partner.communicator, {event.peer, event.tag, event.flags});
    event.sequence = partner.sequence;
    event.call = call_of(key());
    event.communicator = partner.communicator;
    event.region = records_->regions.current();
    event.kind = TraceKind::started;
    trace_->add(event);
}

void Ledger::trace_completion(Ticks since, Ticks end, Requests::Partner* partner, const Trace::Side& side) {
    TraceEvent event{};
    event.begin = since;
    event.ticks = end > since ? end - since : 0;
    event.peer = peer_unknown;
    event.tag = -1;
    if (partner) {
        const bool is_told = partner->key != 0 && side.peer < peer_any;
        event.bytes = partner->bytes;
        event.peer = is_told ? side.peer : partner->key != 0 ? peer_any : rank_of(partner->flow);
        event.tag = is_told ? side.tag : partner->tag;
        event.flags = partner->sends ? trace_sends : trace_receives;
        event.communicator = partner->communicator;
        event.sequence = partner->key != 0
                             ? trace_->next_number(partner->communicator, {event.peer, event.tag, event.flags})
                             : partner->sequence;
    }
    event.call = call_of(key());
    event.region = records_->regions.current();
    event.kind = TraceKind::completed;
    trace_->add(event);
}

void Ledger::trace_region(TraceKind kind, std::uint16_t region, Ticks now, std::uint64_t items) {
    TraceEvent event{};
    event.begin = now;
    event.bytes = items;
    event.peer = peer_unknown;
    event.tag = -1;
    event.region = region;
    event.kind = kind;
    trace_->add(event);
}

}  // namespace mpiprof
