// The ledger's side of requests: posting, starting, completing. Called after the real call, outside the timed interval.
#include "libmpiprof/record/ledger.h"

namespace mpiprof {

// The first request of a thread takes the way through here.
void Ledger::show_requests() {
    if (are_requests_shown_) return;
    are_requests_shown_ = true;
    format::Table* table = records_->image.add_large_table(format::table_of<format::Request>, sizeof(format::Request),
                                                           Requests::places, thread_->id);
    if (!table) return;
    requests_.show_in(records_->image.at(table->offset));
    __atomic_store_n(&table->used, table->capacity, __ATOMIC_RELEASE);
}

bool Ledger::remember(const Requests::Request& request) {
    show_requests();
    const Requests::Put put = requests_.put(request);
    if (put != Requests::Put::shared) return put == Requests::Put::done;
    // A library gives one handle to all sends that are complete when they return: the older one is, then. Each will be
    // waited for by that handle.
    Requests::Request& older = *requests_.find(request.handle);
    older.more &= ~Requests::with_partner;
    book(older, request.since, 0, 0);
    older.posted_by = request.posted_by;
    older.since = request.since;
    older.more += older.more == 0 ? 2 : 1;
    return true;
}

void Ledger::set_up(Word handle, Bytes bytes, std::uint16_t call, const Requests::Partner& partner,
                    format::Request shown) {
    format::Histogram* h = histogram(call, static_cast<std::uint8_t>(format::size_bin(bytes)));
    const Bytes marks = Requests::persistent | (partner.flow ? Requests::with_partner : 0);
    if (!h || !remember({handle, h, 0, bytes | marks})) return count_unknown_request();
    shown.handle = static_cast<std::uint64_t>(handle);
    shown.posted_by |= format::not_started;
    requests_.shown(*requests_.find(handle)) = shown;
    if (partner.flow) {
        Requests::Partner& kept = requests_.partner_of(*requests_.find(handle)) = partner;
        kept.bytes = bytes;
    }
    has_open_sources_ |= partner.key != 0;
}

Bytes Ledger::start(Word handle, Ticks since) {
    Requests::Request* request = requests_.find(handle);
    if (!request || !request->is_persistent()) {
        count_unknown_request();
        return 0;
    }
    request->since = since;
    requests_.shown(*request).posted_by &= ~format::not_started;
    const Bytes bytes = request->more & ~(Requests::persistent | Requests::with_partner);
    if (!request->has_partner()) return bytes;
    Requests::Partner& partner = requests_.partner_of(*request);
    Peers::add(*partner.flow, bytes, 0);
    if (is_traced()) trace_start(partner, since, bytes);
    return bytes;
}

void Ledger::post_open(const Memo& m, Word handle, const Requests::Partner& partner) {
    if (!remember({handle, m.histogram, since(), partner.key != 0 ? Requests::with_partner : 0})) return;
    show_in_hand(handle);
    if (partner.key == 0) return;
    requests_.partner_of(*requests_.find(handle)) = partner;
    has_open_sources_ = true;
}

const Requests::Partner* Ledger::open_source(Word handle) {
    const Requests::Request* request = requests_.find(handle);
    if (!request || request->since == 0 || !request->has_partner()) return nullptr;
    const Requests::Partner& partner = requests_.partner_of(*request);
    return partner.key != 0 ? &partner : nullptr;
}

void Ledger::close_source(const Requests::Partner& partner, format::Peer& from) {
    partner.flow->messages -= 1;
    partner.flow->bytes -= partner.bytes;
    partner.flow->ticks -= partner.ticks;
    Peers::add(from.received, partner.bytes, partner.ticks);
}

void Ledger::forget_request(Word handle) {
    if (Requests::Request* request = requests_.find(handle)) requests_.drop(*request);
}

Word* Ledger::room_for_handles(std::int64_t n) {
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
