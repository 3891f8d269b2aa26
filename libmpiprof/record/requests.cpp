// The slow half: a thread's first request, persistent ones, those whose source is not known yet, and all of them where
// another thread may complete what this one has posted.
#include "libmpiprof/record/requests.h"

#include "libmpiprof/record/peers.h"

namespace mpiprof {

void Requests::open(Records& records, std::uint32_t thread) {
    records_ = &records;
    thread_ = thread;
    table_.show_in(&records.requests_of_nobody);
    guard_if_they_cross_threads();
    mix_if_languages_do();
}

void Requests::mix_if_languages_do() {
    if (are_mixed() || !records_->languages_mix()) return;
    const Guarded guarded(*this);
    table_.mix();
}

// MPI is asked for this level before there can be a request: none is in the table yet.
void Requests::guard_if_they_cross_threads() {
    if (is_guarded_ || is_shown_ || !records_->requests_cross_threads()) return;
    is_guarded_ = true;
    table_.lean();
}

// The first request of a thread takes the way through here.
void Requests::show_table() {
    if (is_shown_) return;
    is_shown_ = true;
    format::Table* table = records_->image.add_large_table(format::table_of<format::Request>, sizeof(format::Request),
                                                           RequestTable::slots, thread_);
    if (table) {
        table_.show_in(records_->image.at(table->offset));
        __atomic_store_n(&table->used, table->capacity, __ATOMIC_RELEASE);
    }
    if (!is_guarded_) return;
    Requests*& newest = records_->guarded.threads;
    next_ = __atomic_load_n(&newest, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&newest, &next_, this, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}

bool Requests::remember(const Request& given) {
    show_table();
    Request request = given;
    if (is_guarded_) request.rest.is_guarded = true;
    const Request* same = is_guarded_ ? table_.find(request.handle) : nullptr;
    const Bytes awaited = same ? same->shares() : 0;
    const RequestTable::Put put = table_.put(request);
    if (is_guarded_) {
        GuardedRequests::Place& place = records_->guarded.place(request.handle);
        __atomic_store_n(&place.last_poster, this, __ATOMIC_RELEASE);
        // They are booked, but other threads that were told so have yet to come: they will find nothing.
        if (put == RequestTable::Put::done && awaited != 0)
            __atomic_fetch_add(&place.booked_early, awaited, __ATOMIC_RELAXED);
        __atomic_store_n(&place.last_posted, request.since, __ATOMIC_RELEASE);
    }
    if (put != RequestTable::Put::shared) return put == RequestTable::Put::done;
    // A library gives one handle to all sends that are complete when they return: the older one is, then, and this one,
    // too. Each will be waited for by that handle.
    Request& older = *table_.find(request.handle);
    if (older.since != 0) book(older, request.since, 0, 0);
    older.rest.has_partner = false;
    table_.share(older);
    table_.shown(older).handle = 0;
    older.posted_by = request.posted_by;
    older.since = request.since;
    return false;
}

void Requests::post(const CallInHand& hand, const Memo& m, Word handle, Ticks since) {
    const Guarded guarded(*this);
    // Without a slot it will be completed as one that is not remembered, and counted as such there.
    if (remember({handle, m.histogram, since, {}})) show_in_hand(handle, hand);
}

bool Requests::post_guarded(const CallInHand& hand, const Memo& m, Word handle) {
    const Guarded guarded(*this);
    if (remember({handle, m.histogram, hand.since(), {}})) show(*table_.find(handle), handle, m.key, hand);
    return true;  // as post(), also without a slot
}

// ---- completing ----

// A persistent one, one whose source was open, one of several that share a handle, or where requests cross threads.
int Requests::complete_odd(Word handle, Ticks end, Ticks blocked, Ticks inside) {
    if (is_guarded_ && last_poster(handle) != this)
        return not_remembered;  // the other's is newer, and is looked for first
    return complete_own(handle, end, blocked, inside);
}

int Requests::complete_own(Word handle, Ticks end, Ticks blocked, Ticks inside) {
    const Guarded guarded(*this);
    Request* request = table_.find(handle);
    if (!request) return not_remembered;  // another thread took it just now
    if (!request->is_persistent()) {
        book_done(take_out(*request), end, blocked, inside);
        return 1;
    }
    const bool was_active = request->since != 0;
    if (was_active) book(*request, end, blocked, inside);
    request->since = 0;
    table_.shown(*request).posted_by |= format::not_started;
    return was_active;
}

// Of those that share a handle each was complete when it was posted: at the latest when the call in hand began.
void Requests::book_done(const Request& done, Ticks end, Ticks blocked, Ticks inside) {
    if (done.since == 0) return;  // booked before
    done.is_shared() ? book(done, end - inside, 0, 0) : book(done, end, blocked, inside);
}

// What was remembered of one that is complete, or goes to another thread.
Requests::Request Requests::take_out(Request& request) {
    const Request taken = request;
    if (taken.is_shared() && taken.since == 0) {
        RequestTable::Rest rest = taken.rest;
        rest.was_of_several = true;
        request.set_rest(rest);
    }
    request.since = 0;
    drop_one(request);
    return taken;
}

// One of those that share a handle, or the only one.
void Requests::drop_one(Request& request) {
    if (request.shares() <= 1) return table_.drop(request);
    RequestTable::Rest rest = request.rest;
    rest.amount = (rest.amount - 1) & RequestTable::Rest::most;
    request.set_rest(rest);
}

bool Requests::forget(Word handle) {
    const Guarded guarded(*this);
    Request* request = table_.find(handle);
    if (request) drop_one(*request);
    return request;
}

// ---- requests that go from one thread to another ----

namespace {

// One that was posted later is another one, to which the library has given the same handle meanwhile. Of those that
// share it, one that was posted before is booked already where a later one is remembered.
bool may_go(const RequestTable::Request& request, Ticks before) {
    return request.is_persistent() || request.since < before || request.shares() > 1;
}

}  // namespace

bool Requests::may_be_taken(Word handle, Ticks before, Ticks& since) {
    const Guard guard(lock_);
    const Request* request = table_.find(handle);
    if (!request) return false;
    since = request->since;
    return may_go(*request, before);
}

bool Requests::are_known_by(Word handle) {
    if (knows(handle)) return true;
    if (!is_guarded_) return false;
    Ticks since = 0;
    for (Requests* other = __atomic_load_n(&records_->guarded.threads, __ATOMIC_ACQUIRE); other; other = other->next_)
        if (other != this && other->may_be_taken(handle, ~Ticks{0}, since)) return true;
    return false;
}

bool Requests::give(Word handle, Ticks since, Ticks before, Taken& taken) {
    const Guard guard(lock_);
    Request* request = table_.find(handle);
    if (!request || request->since != since || !may_go(*request, before)) return false;
    taken = {*request, table_.partner_of(*request), table_.shown(*request)};
    if (request->is_persistent() || since < before) {
        take_out(*request);
    } else {
        taken.request.since = 0;
        drop_one(*request);
    }
    return true;
}

// A library gives a handle out again before the thread that has waited for its former meaning comes to say so here: the
// newest one is meant, but for those that were posted after the call in hand began.
bool Requests::take_from_others(Word handle, Ticks before, Taken& taken) {
    if (!is_guarded_) return false;
    Ticks posted = 0;
    if (Requests* last = last_poster(handle);
        last && last != this && last->may_be_taken(handle, before, posted) && last->give(handle, posted, before, taken))
        return true;
    if (knows(handle)) return false;
    for (;;) {
        Requests* newest = nullptr;
        for (Requests* other = __atomic_load_n(&records_->guarded.threads, __ATOMIC_ACQUIRE); other;
             other = other->next_) {
            Ticks since = 0;
            if (other == this || !other->may_be_taken(handle, before, since) || (newest && since <= posted)) continue;
            newest = other;
            posted = since;
        }
        if (!newest) return false;
        if (newest->give(handle, posted, before, taken)) return true;
    }
}

bool Requests::is_booked_already(Word handle) {
    std::uint64_t& count = records_->guarded.place(handle).booked_early;
    std::uint64_t early = __atomic_load_n(&count, __ATOMIC_RELAXED);
    while (early != 0)
        if (__atomic_compare_exchange_n(&count, &early, early - 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
    return false;
}

bool Requests::keep(const Taken& taken) {
    if (!remember(taken.request)) return false;
    Request& kept = *table_.find(taken.request.handle);
    table_.shown(kept) = taken.shown;
    if (kept.has_partner()) table_.partner_of(kept) = taken.partner;
    return true;
}

bool Requests::adopt(Taken taken, format::Histogram& posted_by, format::Flow* flow) {
    const Guarded guarded(*this);
    taken.request.posted_by = &posted_by;
    taken.partner.flow = flow;
    taken.partner.key = 0;  // a source that is open stays counted as one
    return keep(taken);
}

void Requests::complete_taken(const Taken& taken, format::Histogram& posted_by, Ticks end, Ticks blocked,
                              Ticks inside) {
    Request request = taken.request;
    request.posted_by = &posted_by;
    book_done(request, end, blocked, inside);
}

// ---- persistent ones, and open sources ----

void Requests::set_up(Word handle, Bytes bytes, format::Histogram* posted_by, const Partner& partner,
                      format::Request shown) {
    const Guarded guarded(*this);
    RequestTable::Rest rest{};
    rest.amount = bytes & RequestTable::Rest::most;
    rest.has_partner = partner.flow != nullptr;
    rest.is_persistent = true;
    if (!posted_by || !remember({handle, posted_by, 0, rest})) return count_unknown();
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
    const Guarded guarded(*this);
    Request* request = table_.find(handle);
    if (!request || !request->is_persistent()) {
        count_unknown();
        return {0, nullptr};
    }
    request->since = since;
    table_.shown(*request).posted_by &= ~format::not_started;
    const Bytes bytes = request->rest.amount;
    if (!request->has_partner()) return {bytes, nullptr};
    Partner& partner = table_.partner_of(*request);
    Peers::add(*partner.flow, bytes, 0);
    return {bytes, &partner};
}

void Requests::rename(Word handle, Word now) {
    const Guarded guarded(*this);
    Request* request = table_.find(handle);
    if (!request) return;
    Taken taken{*request, table_.partner_of(*request), table_.shown(*request)};
    table_.drop(*request);
    taken.request.handle = now;
    taken.shown.handle = static_cast<std::uint64_t>(now);
    keep(taken);
}

void Requests::post_open(const CallInHand& hand, const Memo& m, Word handle, const Partner& partner) {
    const Guarded guarded(*this);
    RequestTable::Rest rest{};
    rest.has_partner = partner.key != 0;
    if (!remember({handle, m.histogram, hand.since(), rest})) return;
    show_in_hand(handle, hand);
    if (partner.key == 0) return;
    table_.partner_of(*table_.find(handle)) = partner;
    table_.note_open_source();
}

Requests::InFlight Requests::in_flight(Word handle) {
    const Guarded guarded(*this);
    Request* request = table_.find(handle);
    if (!request || request->since == 0) return {0, nullptr};
    return {request->since, request->has_partner() ? &table_.partner_of(*request) : nullptr};
}

const Requests::Partner* Requests::open_source(Word handle) {
    const Partner* partner = in_flight(handle).partner;
    return partner && partner->key != 0 ? partner : nullptr;
}

void Requests::forget_communicators() {
    if (!has_open_sources()) return;
    const Guarded guarded(*this);
    table_.forget_communicators();
}

void Requests::forget_communicator(Word key) {
    if (!has_open_sources() || !has_any()) return;
    const Guarded guarded(*this);
    table_.forget_communicator(key);
}

void Requests::take_back(const Partner& partner) {
    partner.flow->messages -= 1;
    partner.flow->bytes -= partner.bytes;
    partner.flow->ticks -= partner.ticks;
}

void Requests::close_source(const Partner& partner, format::Peer& from) {
    take_back(partner);
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
