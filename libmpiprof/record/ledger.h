// The ledger of one thread: what it records lies in its parts, the call in hand, memos, books, counters, requests,
// peers and trace; here is what takes several of them. Booking a call neither locks, allocates nor makes system calls;
// what is new to the ledger (a memo miss) goes through the slow path. What a handle stands for is forgotten with the
// handle (end_of), what is known of a place in the program stays.
#pragma once

#include "libmpiprof/base/clock.h"
#include "libmpiprof/format/collective_order.h"
#include "libmpiprof/record/books.h"
#include "libmpiprof/record/callers.h"
#include "libmpiprof/record/counters.h"
#include "libmpiprof/record/last_by_handle.h"
#include "libmpiprof/record/memos.h"
#include "libmpiprof/record/native_stack.h"
#include "libmpiprof/record/peers.h"
#include "libmpiprof/record/processor_stretches.h"
#include "libmpiprof/record/requests.h"
#include "libmpiprof/record/trace.h"

namespace mpiprof {

class Ledger {
  public:
    static Ledger* create(Records& records, std::uint32_t id, format::ThreadKind kind);

    // ---- its parts ----
    CallInHand hand{};
    Books books;
    Memos memos;
    Counters counters;
    Peers peers;
    // A message that was probed for and waits for its receive: from whom it is (the communicator's key and C handle,
    // the rank in it).
    struct Message {
        Word handle;
        Word key;
        Word comm;
        int source;
    };
    LastByHandle<Group, 5> groups;
    Requests requests;       // its table is large, and not touched before the first request
    Trace* trace = nullptr;  // null: there is none. What ends is written there, by the plain form alone
    NativeStack stack;       // the thread's own: only there are callers compared

    // ---- hot ----
    // The communicator of the call that this memo books, which was one that all members make in one order. Whoever
    // counts it there has asked before whether its times are to be kept.
    CommunicatorTable::Counted& counted(const Memo& m) { return records_->communicators.at(m.cell->communicator); }
    // Where a collective of this communicator's is written that NCCL has enqueued; whoever does so counts it, and has
    // made room before.
    bool has_room_for_enqueued(const Memo& m) const { return records_->enqueued.has_room(m.cell->communicator); }
    void make_room_for_enqueued(const Memo& m) {
        records_->enqueued.make_room(records_->image, m.cell->communicator, counted(m));
    }
    // The same of messages with this rank; null: there is no room for them, or no longer.
    format::EnqueuedPeer* enqueued_with(const Memo& m, int peer) const {
        return records_->enqueued_peers.with(m.cell->communicator, peer);
    }
    void make_room_for_messages(const Memo& m) {
        records_->enqueued_peers.make_room(records_->image, m.cell->communicator, counted(m));
    }
    format::EnqueuedCollective& next_enqueued(const Memo& m, const CommunicatorTable::Counted& communicator) {
        return records_->enqueued.next(m.cell->communicator, communicator);
    }
    // Whether the call in hand, which ended then, did so behind the current bin of time, or when the processor's
    // account is to be looked at. Then it is the plain form's.
    bool turns_bin(Ticks end) const { return end >= turns_at_; }
    // Where messages to and from this peer of a call at this place of the memos are counted; null: ask on.
    format::Peer* quick_peer(std::size_t offset, Word key, int peer) const {
        const MemoPeer& last = memos.peer_at(offset);
        if (last.peer != peer) [[unlikely]]
            return peers.quick(key, peer);
        if (!last.record) __builtin_unreachable();  // no peer is no_rank
        return last.record;
    }

    // ---- slow ----
    Ticks read_clock() const { return now(monotonic_); }
    bool is_monotonic() const { return monotonic_; }
    Ticks sane(Ticks ticks) {
        if (static_cast<std::int64_t>(ticks) >= 0) [[likely]]
            return ticks;
        records_->count_backwards();
        return 0;
    }
    // As hand.begin(), of a call that a script may make: its line is in the profile before the real call, which may
    // never return.
    void begin_in_script(std::uint64_t key);
    // Whether a script made the call whose memo was learned last.
    bool is_scripted() const { return is_scripted_; }
    // Fills one of the memos of a call that has none: finds its site, its cell and its histogram.
    Memo& learn(std::uint64_t key, Word type, Word comm, const Word* frame, const Meaning& meaning, Bytes bytes);
    // The call in hand, which took so long, is the next of its communicator whose times are kept.
    void keep_arrival(const Memo& m, Ticks ticks, bool has_root);
    // After the call in hand is booked.
    void turn_bin(Bytes bytes, Ticks ticks);
    // Before the clock of a call of the plain form starts.
    void before_call() {
        if (stretches_.awaits_call()) [[unlikely]]
            stretches_.before_call(read_clock());
    }
    // Books a sampled poll; its counter counts it afterwards.
    void add_poll(Memo& m, Ticks ticks, Ticks end, std::uint16_t counter) {
        books.add_poll(m, ticks, counters.time_of_polls(counter, ticks, end));
    }
    // A call that was told of, by another than its caller: it has no time, and no place where it was called.
    void add_untimed(std::uint16_t call, std::uint16_t communicator, Bytes bytes);
    // A call that returned an error: no bytes, no time; counted in its cell of size 0.
    void add_error(std::uint64_t key, std::uint16_t communicator, const Word* frame);
    // Makes the profile name the module of this address, so that a call that hangs there can be told.
    void know_site(Word address) { records_->sites.know_module(records_->image, address); }

    // ---- requests and messages ----
    // requests.complete(), for loops that have the ledger in a register and none for its parts.
    int complete(Word handle, Ticks end, Ticks blocked, Ticks inside) {
        return requests.complete(handle, end, blocked, inside);
    }
    void post(const Memo& m, Word handle, Ticks since) { requests.post(hand, m, handle, since); }
    void set_up(Word handle, Bytes bytes, std::uint16_t call, const Requests::Partner& partner = {},
                format::Request shown = {});
    // Its bytes; 0 if it is not remembered. `now`: its handle from now on.
    Bytes start(Word handle, Word now, Ticks since);
    // Another thread has posted or set up a request that this one is about to complete or start, and did so before: it
    // is this thread's from now on. False: nobody remembers it.
    bool take_over(Word handle, Ticks before);
    // complete(), of one that this thread does not remember, or that another has posted since.
    [[gnu::noinline]] int complete_of_others(Word handle, Ticks end, Ticks blocked, Ticks inside);
    // It was freed, whoever posted it.
    void forget_request(Word handle);
    // The request is completed at `end`, before requests.complete() forgets it. False: it is not remembered. Of one
    // that received from whoever sent first, `who` says who it was.
    template <class Who>
    bool trace_completed(Word handle, Ticks end, Who who) {
        const auto [posted, partner] = requests.in_flight(handle);
        if (posted == 0) return false;
        Trace::Side side;
        if (partner && partner->key != 0) side = who(*partner);
        trace->completion(hand, posted, end, partner, side);
        return true;
    }
    void remember_peer(const Memo& m, Word key, int peer) {
        if (format::Peer* known = memos.is_first(m) ? peers.quick(key, peer) : nullptr)
            memos.remember_peer(m, peer, known);
    }
    void remember_message(const Message& message) {
        has_messages_ = true;
        messages_.remember(message);
    }
    void forget_message(Word handle) { messages_.forget(handle); }
    const Message* message(Word handle) const { return handle != 0 ? messages_.find(handle) : nullptr; }

    // ---- handles ----
    // Before it is asked for: whoever ends or makes this type from now on tells this thread.
    void will_learn_type(Word type) { records_->ended.note_holder(type, id()); }
    // A handle's life ends, or begins: what this thread knew of its value is no longer so.
    void end_of(const EndedHandle& ended) {
        if (ended.kind != HandleKind::type)
            end_of_group(ended);
        else
            memos.forget_type(ended.c);
    }
    // Brings the thread up to date: handles have ended, or (Records::forgets) all that memos know.
    void enter_epoch(std::uint64_t epoch);
    // This thread knows what it has published itself.
    void has_caught_up(std::uint64_t epoch) {
        epoch_ = epoch;
        ended_seen_ = records_->ended.count();
        forget_unloaded();  // which may have happened meanwhile
    }

    // ---- the thread ----
    Records& records() { return *records_; }
    std::uint32_t id() const { return hand.thread->id; }
    std::uint32_t os_thread() const { return hand.thread->os_thread; }
    format::ThreadKind kind() const { return hand.thread->kind; }
    // Whether this thread moved or waited for anything; queries, set-up and local copies are not counted.
    bool has_moved_data() const { return moved_; }
    // Hand-over of a finished thread's ledger to the next thread.
    std::atomic<bool> in_use{true};
    Ledger* next = nullptr;
    void adopt(std::uint32_t os_thread);

  private:
    // So many times a thread may unwind: calls from ever new frames (alloca, deep recursions) keep their own address
    // then.
    static constexpr unsigned most_unwound = 16384;
    // For a request that other threads take turns in while they post ever new ones.
    static constexpr int most_looks = 100;
    static constexpr unsigned stack_of_walk = 4096, stack_of_shallow_walk = 2048, stack_of_general_walk = 32768;
    bool adopt(const Requests::Taken& taken);
    enum class Later { none, booked, taken };
    Later find_later_one(Word handle, Requests::Taken& taken);
    format::Histogram* own_histogram(const Requests::Taken& taken);
    std::uint32_t site(std::uint64_t key, const Word* frame, std::uint16_t (&at)[2]);
    std::uint32_t site_by_walk(Word return_address, const Word* frame, std::size_t words_above, std::uint16_t (&at)[2],
                               bool& is_shallow);
    void go_on_from_cut(CallStack& found);
    format::Cell wanted_cell(std::uint16_t call, std::uint16_t communicator);
    void end_of_group(const EndedHandle& ended);
    void forget_peers_of(Word key);
    void forget_unloaded();
    bool open(Records& records, std::uint32_t id, format::ThreadKind kind);

    Ticks turns_at_ = ~Ticks{0};  // the earlier one of these two's
    Activity activity_;
    ProcessorStretches stretches_;
    Records* records_ = nullptr;
    std::uint64_t epoch_ = 0;
    std::uint64_t ended_seen_ = 0, forgets_seen_ = 0, unloads_seen_ = 0;
    bool monotonic_ = false;
    bool moved_ = false;
    bool has_messages_ = false;
    bool is_scripted_ = false;  // of the site that was found last
    Ticks asked_script_ = 0;    // the call that began then was looked up before: script_site_
    std::uint32_t script_site_ = 0;
    unsigned unwound_ = 0;
    Callers callers_;
    LastByHandle<Message, 4> messages_;
};

}  // namespace mpiprof
