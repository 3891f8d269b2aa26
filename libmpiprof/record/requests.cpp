// The slow half: a thread's first request, persistent ones, those whose source is not known yet.
#include "libmpiprof/record/requests.h"

#include "libmpiprof/record/peers.h"

namespace mpiprof {

// The first request of a thread takes the way through here.
void Requests::show_table() {
    if (is_shown_) return;
    is_shown_ = true;
    format::Table* table = records_->image.add_large_table(format::table_of<format::Request>, sizeof(format::Request),
                                                           RequestTable::slots, thread_);
    if (!table) return;
    table_.show_in(records_->image.at(table->offset));
    __atomic_store_n(&table->used, table->capacity, __ATOMIC_RELEASE);
}

bool Requests::remember(const Request& request) {
    show_table();
    const RequestTable::Put put = table_.put(request);
    if (put != RequestTable::Put::shared) return put == RequestTable::Put::done;
    // A library gives one handle to all sends that are complete when they return: the older one is, then, and this one,
    // too. Each will be waited for by that handle.
    Request& older = *table_.find(request.handle);
    if (older.since != 0) book(older, request.since, 0, 0);
    older.more &= ~RequestTable::with_partner;
    table_.share(older);
    table_.shown(older).handle = 0;
    older.posted_by = request.posted_by;
    older.since = request.since;
    return false;
}

// A persistent one, one whose source was open, or one of several that share a handle.
int Requests::complete_odd(Request& request, Ticks end, Ticks blocked, Ticks inside) {
    const bool was_active = request.since != 0;
    const bool was_complete = request.is_shared();
    if (was_active) was_complete ? book(request, end - inside, 0, 0) : book(request, end, blocked, inside);
    request.since = 0;
    if (request.is_persistent()) {
        table_.shown(request).posted_by |= format::not_started;
        return was_active;
    }
    if (was_complete && !was_active) request.more |= RequestTable::for_several;
    drop_one(request);
    return 1;
}

// One of those that share a handle, or the only one.
void Requests::drop_one(Request& request) {
    if (request.is_shared() && (request.more & ~RequestTable::marks) > 1)
        request.more -= 1;
    else
        table_.drop(request);
}

void Requests::set_up(Word handle, Bytes bytes, format::Histogram* posted_by, const Partner& partner,
                      format::Request shown) {
    const Bytes marks = RequestTable::persistent | (partner.flow ? RequestTable::with_partner : 0);
    if (!posted_by || !remember({handle, posted_by, 0, bytes | marks})) return count_unknown();
    shown.handle = static_cast<std::uint64_t>(handle);
    shown.posted_by |= format::not_started;
    table_.shown(*table_.find(handle)) = shown;
    if (partner.flow) {
        Partner& kept = table_.partner_of(*table_.find(handle)) = partner;
        kept.bytes = bytes;
    }
    if (partner.key != 0) table_.note_open_source();
}

Requests::Started Requests::start(Word handle, Ticks since) {
    Request* request = table_.find(handle);
    if (!request || !request->is_persistent()) {
        count_unknown();
        return {0, nullptr};
    }
    request->since = since;
    table_.shown(*request).posted_by &= ~format::not_started;
    const Bytes bytes = request->more & ~(RequestTable::persistent | RequestTable::with_partner);
    if (!request->has_partner()) return {bytes, nullptr};
    Partner& partner = table_.partner_of(*request);
    Peers::add(*partner.flow, bytes, 0);
    return {bytes, &partner};
}

void Requests::post_open(const CallInHand& hand, const Memo& m, Word handle, const Partner& partner) {
    if (!remember({handle, m.histogram, hand.since(), partner.key != 0 ? RequestTable::with_partner : 0})) return;
    show_in_hand(handle, hand);
    if (partner.key == 0) return;
    table_.partner_of(*table_.find(handle)) = partner;
    table_.note_open_source();
}

Requests::InFlight Requests::in_flight(Word handle) {
    Request* request = table_.find(handle);
    if (!request || request->since == 0) return {nullptr, nullptr};
    return {request, request->has_partner() ? &table_.partner_of(*request) : nullptr};
}

const Requests::Partner* Requests::open_source(Word handle) {
    const Partner* partner = in_flight(handle).partner;
    return partner && partner->key != 0 ? partner : nullptr;
}

void Requests::close_source(const Partner& partner, format::Peer& from) {
    partner.flow->messages -= 1;
    partner.flow->bytes -= partner.bytes;
    partner.flow->ticks -= partner.ticks;
    Peers::add(from.received, partner.bytes, partner.ticks);
}

Word* Requests::room_for_handles(std::int64_t n) {
    if (n <= handles_capacity_) return handles_;
    const std::int64_t capacity = n < 512 ? 512 : n + n / 2;
    auto* larger = static_cast<Word*>(private_pages(static_cast<std::size_t>(capacity) * sizeof(Word)));
    if (!larger) return nullptr;
    if (handles_) munmap(handles_, static_cast<std::size_t>(handles_capacity_) * sizeof(Word));
    handles_ = larger;
    handles_capacity_ = capacity;
    return handles_;
}

}  // namespace mpiprof
