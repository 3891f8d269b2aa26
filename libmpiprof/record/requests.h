// The requests that a thread posted or set up, from there to their completion: the time in flight and the time blocked
// for it are booked in the histogram of the posting call, and while they are open the profile shows them. Part of the
// ledger; after the real call, outside the timed interval. Neither locks nor allocates but for the room that it makes
// for copies of handles.
#pragma once

#include "libmpiprof/record/memo.h"
#include "libmpiprof/record/records.h"

namespace mpiprof {

class Requests {
  public:
    using Request = RequestTable::Request;
    using Partner = RequestTable::Partner;

    void open(Records& records, std::uint32_t thread) {
        records_ = &records;
        thread_ = thread;
        table_.show_in(&records.requests_of_nobody);
    }
    bool has_any() const { return !table_.is_empty(); }

    // ---- posting ----
    // A request was posted by the call in hand, which `m` books. False, and nothing done, if the table does not take it
    // as it is; then post().
    bool post_fast(const CallInHand& hand, const Memo& m, Word handle) {
        const Request* request = table_.put_fast({handle, m.histogram, hand.since(), 0});
        if (!request) [[unlikely]]
            return false;
        show(*request, handle, m.key, hand);
        return true;
    }
    void post(const CallInHand& hand, const Memo& m, Word handle, Ticks since) {
        // Without a slot it will be completed as one that is not remembered, and counted as such there.
        if (remember({handle, m.histogram, since, 0})) show_in_hand(handle, hand);
    }
    // One to receive from whoever sends first: it is counted with `partner` until its status tells.
    void post_open(const CallInHand& hand, const Memo& m, Word handle, const Partner& partner);
    // A persistent one, of the histogram of its call and size. `shown`: what the profile is to say of it, but for the
    // handle.
    void set_up(Word handle, Bytes bytes, format::Histogram* posted_by, const Partner& partner, format::Request shown);
    // Its bytes, 0 if it is not remembered; and its partner, if it has one.
    struct Started {
        Bytes bytes;
        Partner* partner;
    };
    Started start(Word handle, Ticks since);
    void forget(Word handle) {
        if (Request* request = table_.find(handle)) drop_one(*request);
    }

    // ---- completing ----
    // The request was seen to complete at `end`; `blocked` is its share of the time inside the completing call. How
    // many did: none if it is a persistent one that was not started, not_remembered if it may be any.
    static constexpr int not_remembered = -1;
    [[gnu::always_inline]] int complete(Word handle, Ticks end, Ticks blocked, Ticks inside) {
        Request* request = table_.find(handle);
        if (!request) [[unlikely]]
            return not_remembered;
        if (request->more == 0) [[likely]] {
            book(*request, end, blocked, inside);
            table_.release(*request);
            return 1;
        }
        return complete_odd(*request, end, blocked, inside);
    }
    // Whether its handle is one that the library gave to several requests, all of which were complete when their calls
    // returned: nobody waits for such a one.
    bool is_shared(Word handle) {
        const Request* request = table_.find(handle);
        return request && request->is_shared();
    }
    void count_unknown() {
        mpiprof::add(records_->image.header().drops.requests, 1);
    }  // lossy itself: several threads may add
    // One that is in flight, and its partner, if it has one. `request` null: it is not remembered.
    struct InFlight {
        const Request* request;
        Partner* partner;
    };
    InFlight in_flight(Word handle);

    // Whether some of these are in flight: both, and each of them.
    bool has_odd() const { return table_.has_odd(); }
    bool has_shared() const { return table_.has_shared(); }

    // ---- those that receive from whoever sends first ----
    bool has_open_sources() const { return table_.has_open_sources(); }
    const Partner* open_source(Word handle);  // null: its source is known
    static void close_source(const Partner& partner, format::Peer& from);
    void forget_communicators() {
        if (has_open_sources()) table_.forget_communicators();
    }
    void forget_communicator(Word key) {
        if (has_open_sources()) table_.forget_communicator(key);
    }

    // Room for a copy of `n` handles; null if there is none (yet: room_for_handles() makes it).
    Word* ready_room_for_handles(std::int64_t n) { return n <= handles_capacity_ ? handles_ : nullptr; }
    Word* room_for_handles(std::int64_t n);

  private:
    void show_table();
    // True: it has a slot of its own, which shows nothing yet.
    bool remember(const Request& request);
    int complete_odd(Request& request, Ticks end, Ticks blocked, Ticks inside);
    void drop_one(Request& request);
    // Says in the profile who posted a request: the call in hand.
    void show(const Request& request, Word handle, std::uint64_t key, const CallInHand& hand) {
        format::Request& shown = table_.shown(request);
        shown.handle = static_cast<std::uint64_t>(handle);
        shown.posted_by = key;
        // Peer, tag and communicator at once.
        __builtin_memcpy(&shown.peer, &hand.thread->in_call_peer, 2 * sizeof(Word));
    }
    void show_in_hand(Word handle, const CallInHand& hand) {
        const std::uint32_t script = hand.script_site();
        const bool is_scripts = script != 0 && script < format::first_code;
        const std::uint64_t key = is_scripts ? call_key(call_of(hand.key()), script) : hand.key();
        show(*table_.find(handle), handle, key, hand);
    }
    void book(const Request& request, Ticks end, Ticks blocked, Ticks inside) {
        format::Histogram& h = *request.posted_by;
        const Ticks in_flight = end - request.since;
        h.completed += 1;
        h.blocked_ticks += blocked;
        h.inside_ticks += inside;
        if (static_cast<std::int64_t>(in_flight) >= 0) [[likely]]
            h.in_flight_ticks += in_flight;
        else
            records_->count_backwards();
    }

    Records* records_ = nullptr;
    std::uint32_t thread_ = 0;
    bool is_shown_ = false;
    Word* handles_ = nullptr;
    std::int64_t handles_capacity_ = 0;
    RequestTable table_;  // its pages are not touched before the first request
};

}  // namespace mpiprof
