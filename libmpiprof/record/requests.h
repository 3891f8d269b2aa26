// The requests that a thread posted or set up, from there to their completion: the time in flight and the time blocked
// for it are booked in the histogram of the posting call, and while they are open the profile shows them. Part of the
// ledger; after the real call, outside the timed interval. Allocates nothing but the room that it makes for copies of
// handles, and locks only where MPI lets several threads call it: there a request may go from one to another.
#pragma once

#include "libmpiprof/record/memo.h"
#include "libmpiprof/record/records.h"

namespace mpiprof {

class Requests {
  public:
    using Request = RequestTable::Request;
    using Partner = RequestTable::Partner;

    void open(Records& records, std::uint32_t thread);
    bool has_any() const { return !table_.is_empty(); }
    // Whether a request that one language posted may be completed by another, which has another handle for it; and
    // whether any thread knows one by this handle.
    static bool are_mixed(std::uint64_t in_use) { return RequestTable::is_mixed(in_use); }
    bool are_mixed() const { return are_mixed(in_use()); }
    std::uint64_t in_use() const { return table_.in_use(); }  // 0: none
    bool are_known_by(Word handle);

    // ---- posting ----
    // A request was posted by the call in hand, which `m` books. False, and nothing done, if the table does not take it
    // as it is; then post().
    bool post_fast(const CallInHand& hand, const Memo& m, Word handle) {
        if (is_guarded_) [[unlikely]]
            return post_guarded(hand, m, handle);
        const Request* request = table_.put_fast({handle, m.histogram, hand.since(), {}});
        if (!request) [[unlikely]]
            return false;
        show(*request, handle, m.key, hand);
        return true;
    }
    void post(const CallInHand& hand, const Memo& m, Word handle, Ticks since);
    // One that was complete when its call returned, `inside` ticks after it began, as its handle tells. Nothing is
    // remembered of it but that it will be waited for.
    void post_complete(const Memo& m, Ticks inside) {
        m.histogram->completed += 1;
        m.histogram->in_flight_ticks += inside;
        table_.note_complete(is_guarded_);
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
    void rename(Word handle, Word now);
    // False: it is not remembered.
    bool forget(Word handle);

    // ---- requests that go from one thread to another ----
    // Called at the thread's first call, and where more may be known of MPI since.
    void guard_if_they_cross_threads();
    void mix_if_languages_do();
    bool knows(Word handle) { return table_.find(handle) != nullptr; }
    // What another thread knows of one that was posted `before`, or is persistent, and forgets now.
    struct Taken {
        Request request;
        Partner partner;
        format::Request shown;
    };
    bool take_from_others(Word handle, Ticks before, Taken& taken);
    // From now on it is this thread's, booked in `posted_by`. `flow` counts its messages. False: there is no slot.
    bool adopt(Taken taken, format::Histogram& posted_by, format::Flow* flow);
    // As complete(), of one that was taken, and is not persistent.
    void complete_taken(const Taken& taken, format::Histogram& posted_by, Ticks end, Ticks blocked, Ticks inside);
    // complete(), of one that this thread has posted, although another has posted the same handle since.
    int complete_own(Word handle, Ticks end, Ticks blocked, Ticks inside);
    // Of one that nobody remembers: whether it was seen to be done when its handle was given out again.
    bool is_booked_already(Word handle);
    // Another value than before: one with such a handle was posted meanwhile.
    Ticks last_posted(Word handle) const {
        return __atomic_load_n(&records_->guarded.place(handle).last_posted, __ATOMIC_ACQUIRE);
    }

    // ---- completing ----
    // The request was seen to complete at `end`; `blocked` is its share of the time inside the completing call. How
    // many did: none if it is a persistent one that was not started, not_remembered if it may be any.
    static constexpr int not_remembered = -1;
    [[gnu::always_inline]] int complete(Word handle, Ticks end, Ticks blocked, Ticks inside) {
        Request* request = table_.find(handle);
        if (!request) [[unlikely]]
            return not_remembered;
        if (!request->has_rest()) [[likely]] {
            book(*request, end, blocked, inside);
            table_.release(*request);
            return 1;
        }
        return complete_odd(handle, end, blocked, inside);
    }
    // One that was complete is waited for.
    void pass_complete() { table_.pass_complete(is_guarded_); }
    // Whether its handle is one that the library gave to several requests, all of which were complete when their calls
    // returned: nobody waits for such a one.
    bool is_shared(Word handle) {
        const Guarded guarded(*this);
        const Request* request = table_.find(handle);
        return request && request->is_shared();
    }
    void count_unknown() {
        mpiprof::add(records_->image.header().drops.requests, 1);
    }  // lossy itself: several threads may add
    // One that is in flight, and its partner, if it has one. `since` 0: it is not remembered.
    struct InFlight {
        Ticks since;
        Partner* partner;
    };
    InFlight in_flight(Word handle);

    // Whether some that were complete at once have yet to be waited for.
    bool has_complete() const { return table_.has_complete(); }
    // Whether some of these are in flight: both, and each of them.
    bool has_odd() const { return table_.has_odd(); }
    bool has_shared() const { return table_.has_shared(); }

    // ---- those that receive from whoever sends first ----
    bool has_open_sources() const { return table_.has_open_sources(); }
    const Partner* open_source(Word handle);  // null: its source is known
    static void close_source(const Partner& partner, format::Peer& from);
    static void take_back(const Partner& partner);  // it received nothing
    void forget_communicators();
    void forget_communicator(Word key);

    // Room for a copy of `n` handles; null if there is none (yet: room_for_handles() makes it).
    Word* ready_room_for_handles(std::int64_t n) { return n <= handles_capacity_ ? handles_ : nullptr; }
    Word* room_for_handles(std::int64_t n);

  private:
    // Holds the lock where another thread may look in.
    class Guarded {
      public:
        explicit Guarded(Requests& of) : of_(of) {
            if (of_.is_guarded_) of_.lock_.lock();
        }
        ~Guarded() {
            if (of_.is_guarded_) of_.lock_.unlock();
        }
        Guarded(const Guarded&) = delete;
        Guarded& operator=(const Guarded&) = delete;

      private:
        Requests& of_;
    };

    [[gnu::noinline]] bool post_guarded(const CallInHand& hand, const Memo& m, Word handle);  // takes the lock
    // With the lock held, as all others below.
    void show_table();
    // True: it has a slot of its own, which shows nothing yet.
    bool remember(const Request& given);
    int complete_odd(Word handle, Ticks end, Ticks blocked, Ticks inside);  // takes the lock
    void book_done(const Request& done, Ticks end, Ticks blocked, Ticks inside);
    Request take_out(Request& request);
    bool keep(const Taken& taken);
    Requests* last_poster(Word handle) const {
        return __atomic_load_n(&records_->guarded.place(handle).last_poster, __ATOMIC_ACQUIRE);
    }
    void drop_one(Request& request);
    // For other threads; these take the lock themselves. Whether it may be taken by one that waits since `before`, and
    // when it was posted; takes it, unless somebody was faster.
    bool may_be_taken(Word handle, Ticks before, Ticks& since);
    bool give(Word handle, Ticks since, Ticks before, Taken& taken);
    // Says in the profile who posted a request: the call in hand.
    void show(const Request& request, Word handle, std::uint64_t key, const CallInHand& hand) {
        format::Request& shown = table_.shown(request);
        shown.handle = static_cast<std::uint64_t>(handle);
        shown.posted_by = key;
        // Peer, tag and communicator at once.
        __builtin_memcpy(&shown.peer, &hand.thread->in_call_peer, 2 * sizeof(Word));
    }
    void show_in_hand(Word handle, const CallInHand& hand) {
        show(*table_.find(handle), handle, hand.made_from(), hand);
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
    bool is_guarded_ = false;
    Lock lock_;
    Requests* next_ = nullptr;  // of all that are guarded and were ever used
    Word* handles_ = nullptr;
    std::int64_t handles_capacity_ = 0;
    RequestTable table_;  // its pages are not touched before the first request
};

}  // namespace mpiprof
