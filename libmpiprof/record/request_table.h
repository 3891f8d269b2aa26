// The table of a thread's requests in flight: which call and size each belongs to and since when. Small, and lossy by
// design: what finds no slot is counted as not remembered, never waited for. Part of Requests, which locks it where
// threads may complete each other's; neither locks nor allocates itself.
#pragma once

#include "libmpiprof/base/basics.h"
#include "libmpiprof/format/layout.h"

namespace mpiprof {

class RequestTable {
  public:
    // What few requests have besides: one word, so that nearly all are known by its being 0.
    struct Rest {
        Bytes amount : 60;         // of a persistent one: what a start moves; else how many share the handle and were
                                   // not waited for yet
        Bytes is_guarded : 1;      // another thread may take it away: nothing is done with it without the lock
        Bytes was_of_several : 1;  // several were waited for by the handle and none posted meanwhile: not a handle that
                                   // was given out again and of which an end passed us by
        Bytes has_partner : 1;
        Bytes is_persistent : 1;

        static constexpr Bytes most = (Bytes{1} << 60) - 1;
    };
    static_assert(sizeof(Rest) == sizeof(Bytes));
    struct alignas(32) Request {
        Word handle;                   // as the program holds it; 0 = free
        format::Histogram* posted_by;  // its call and size
        Ticks since;                   // the posting call's begin; 0 = not in flight (persistent, or booked already)
        Rest rest;
        bool is_persistent() const { return rest.is_persistent; }
        bool has_partner() const { return rest.has_partner; }
        // The library gave the handle to several, which were complete when their calls returned.
        bool is_shared() const { return shares() != 0; }
        Bytes shares() const { return is_persistent() ? 0 : rest.amount; }
        // Its own thread may ask meanwhile, without the lock.
        bool has_rest() const {
            Rest now;
            __atomic_load(&rest, &now, __ATOMIC_RELAXED);
            return __builtin_bit_cast(Bytes, now) != 0;
        }
        void set_rest(Rest now) { __atomic_store(&rest, &now, __ATOMIC_RELAXED); }
    };
    // With whom: of a persistent request, and of one to receive from whoever sends first.
    struct Partner {
        format::Flow* flow;  // where its messages are counted; null: it has none
        Word key;            // the communicator whose rank the status will name, as Peers knows it; 0: nothing is open
        Word comm;           // its C handle
        Bytes bytes;
        Ticks ticks;
        // What a trace knows of its message.
        std::uint32_t sequence;
        int tag;
        std::uint16_t communicator;  // index into the profile's
        bool sends;
    };

    // From now on it is never empty: its thread may complete what others posted.
    void lean() { ++in_use_; }
    // The same, since requests go from one language to another: those who complete them look by which handle they are
    // known. A mark in the count that they look at in any case.
    void mix() { relaxed(in_use_, in_use_ | mixed); }
    static bool is_mixed(std::uint64_t in_use) { return in_use >= mixed; }
    std::uint64_t in_use() const { return relaxed(in_use_); }

    enum class Put { done, no_slot, shared };
    // Remembers a request. Shared: the handle is another's that is to be waited for; nothing was changed.
    Put put(const Request& request) {
        Request* const set = set_of(request.handle);
        Request* slot = &set[0];
        // A completed request's handle is given out again: the newer meaning counts, wherever the older one lies.
        if (set[1].handle == request.handle || (slot->handle != 0 && slot->handle != request.handle)) slot = &set[1];
        if (slot->handle == 0)
            ++in_use_;
        else if (slot->handle != request.handle)
            return Put::no_slot;
        else if (!slot->is_persistent() && request.since != 0 && (slot->since != 0 || slot->rest.was_of_several))
            return Put::shared;
        leave_shared(*slot);
        *slot = request;
        return Put::done;
    }
    // The same for one that is posted, is new, and finds its first slot free. What is free has no rest. Returns the
    // slot; null: put().
    Request* put_fast(const Request& request) {
        Request* const set = set_of(request.handle);
        if (set[0].handle != 0 || set[1].handle == request.handle) [[unlikely]]
            return nullptr;
        set[0].handle = request.handle;
        set[0].posted_by = request.posted_by;
        set[0].since = request.since;
        ++in_use_;
        return &set[0];
    }
    Request* find(Word handle) {
        Request* const set = set_of(handle);
        if (__atomic_load_n(&set[0].handle, __ATOMIC_RELAXED) == handle) [[likely]]
            return &set[0];
        return __atomic_load_n(&set[1].handle, __ATOMIC_RELAXED) == handle ? &set[1] : nullptr;
    }
    // One without a rest, as all have to be that are free for put_fast().
    void release(Request& request) {
        request.handle = 0;
        shown(request).handle = 0;
        --in_use_;
    }
    // What the profile says of the request in this slot.
    format::Request& shown(const Request& slot) {
        return *reinterpret_cast<format::Request*>(reinterpret_cast<std::uintptr_t>(&slot) + to_shown_);
    }
    // Where that lies. There is always a slot, be it one that no profile has.
    void show_in(void* shown) {
        to_shown_ = reinterpret_cast<std::uintptr_t>(shown) - reinterpret_cast<std::uintptr_t>(sets_);
    }
    // Its own thread may look at it and at the counts meanwhile, without the lock: it stays one that needs it.
    void drop(Request& request) {
        leave_shared(request);
        Rest kept{};
        kept.is_guarded = request.rest.is_guarded;
        request.set_rest(kept);
        __atomic_store_n(&request.handle, 0, __ATOMIC_RELAXED);
        shown(request).handle = 0;
        relaxed(in_use_, in_use_ - 1);
    }
    // The handle of this one, which was waited for by nobody yet, is another's, too.
    void share(Request& request) {
        if (!request.is_shared()) {
            odd_ += one_shared;
            request.rest.amount += 1;
        }
        request.rest.amount += 1;
    }
    bool is_empty() const { return relaxed(in_use_) == 0; }

    // Those that were complete when they were posted lie in no slot; their thread alone counts them, and looks for none
    // where it has no other. Guarded: other threads count what is in use, which is never nothing then.
    void note_complete(bool is_guarded) {
        ++complete_;
        if (!is_guarded) ++in_use_;
    }
    void pass_complete(bool is_guarded) {
        if (complete_ == 0) return;  // posted by another thread, or before there was a profile
        --complete_;
        if (!is_guarded) --in_use_;
    }

    // What those who complete requests have to look at besides; one word, which is 0 almost always.
    bool has_odd() const { return relaxed(odd_) != 0; }
    bool has_complete() const { return complete_ != 0; }
    bool has_shared() const { return relaxed(odd_) >= one_shared; }
    bool has_open_sources() const { return (relaxed(odd_) & open_sources) != 0; }
    void note_open_source() { odd_ |= open_sources; }
    // Valid of what has_partner().
    Partner& partner_of(const Request& request) { return partners_[&request - sets_]; }
    // The communicators of those that are open may mean something else now: they stay where they are counted.
    void forget_communicators() {
        for (Request& request : sets_)
            if (request.handle != 0 && request.has_partner()) partner_of(request).key = 0;
    }

    void forget_communicator(Word key) {
        for (Request& request : sets_)
            if (request.handle != 0 && request.has_partner() && may_be_same_handle(partner_of(request).key, key))
                partner_of(request).key = 0;
    }

    static constexpr unsigned bits = 9;
    static constexpr unsigned slots = 2u << bits;
    struct Shown {
        format::Request requests[slots];
    };

  private:
    static constexpr std::uint64_t open_sources = 1, one_shared = 2;
    static constexpr std::uint64_t mixed = std::uint64_t{1} << 63;
    void leave_shared(const Request& request) {
        if (request.is_shared()) relaxed(odd_, odd_ - one_shared);
    }
    // Each handle has two slots, in one cache line.
    Request* set_of(Word handle) { return sets_ + 2 * short_hash<bits>(static_cast<std::uint64_t>(handle)); }
    std::uint64_t in_use_ = 0;
    std::uint64_t complete_ = 0;   // how many that were complete when they were posted have yet to be waited for
    std::uint64_t odd_ = 0;        // how many handles are shared, and whether sources were ever open
    std::uintptr_t to_shown_ = 0;  // from each slot to its format::Request
    static_assert(sizeof(format::Request) == sizeof(Request));
    alignas(64) Request sets_[slots];
    Partner partners_[slots];  // behind what every request touches
};

}  // namespace mpiprof
