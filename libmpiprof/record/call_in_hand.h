// The call that a thread has in hand: what its first half leaves for its second half, and what of it lies in the
// profile while it lasts, so that a reader sees who waits for whom. Filled by the wrappers, read by their Bookers and
// the ledger; the thread alone uses it.
#pragma once

#include "libmpiprof/base/basics.h"
#include "libmpiprof/format/layout.h"

namespace mpiprof {

// A call's identity on the hot path: where it returns to, and which call it is. User addresses
// have at most 48 bits unless a program asks for more.
constexpr std::uint64_t call_key(std::uint16_t call, Word return_address) {
    return (std::uint64_t{call} << 48) + static_cast<std::uint64_t>(return_address);
}
constexpr std::uint16_t call_of(std::uint64_t key) { return static_cast<std::uint16_t>(key >> 48); }
constexpr Word address_of(std::uint64_t key) { return static_cast<Word>(key & 0xffffffffffffull); }

// A word that is no handle in any MPI: the place of a communicator or type in calls that have none.
inline constexpr Word no_handle = -1;

// Only what the row's Booker reads is set.
struct CallInHand {
    Word type;  // datatype handle as passed; no_handle: count is in bytes
    std::int64_t count;
    const int* ierror;          // Fortran only
    format::BufferKind buffer;  // the host's unless its library says otherwise
    // Arguments that are read again afterwards, as they were passed.
    Word status;   // or the array of them; 0: nobody asks how much arrived
    Word window;   // a handle
    Word message;  // of one that was probed for its handle; of a probe where that will lie
    Word request;  // where the new one's handle lies
    Word flag, index, outcount, indices;
    std::int64_t members;   // what the bytes are a mean over
    std::int64_t requests;  // completion: how many were given (0: none of interest),
    const Word* handles;    // and a copy of their handles, since the library overwrites them
    Word handle;            // the copy's place if it is only one
    Word scratch[8];        // for a status that the caller does not want
    int source;             // of an exchange
    int op;                 // how NCCL reduces
    Bytes sent;             // of an exchange whose size was asked for
    format::Thread* thread;

    // ---- in the profile ----
    void begin(std::uint64_t key, Ticks start) {
        begin(key);
        begin_at(start);
    }
    // In two steps, since more can be done before the clock is read.
    void begin(std::uint64_t key) { thread->in_call = key; }
    void begin_at(Ticks start) { thread->in_call_since = start; }
    // It has returned, or is not recorded after all.
    void leave() { thread->in_call |= format::has_returned; }
    // The key of the call that is under way. After leave() it is marked as returned, and so equals no call's key.
    std::uint64_t key_in_call() const { return thread->in_call; }
    // The key of the call that is under way, or else of the last one.
    std::uint64_t key() const { return thread->in_call & ~format::has_returned; }
    Ticks since() const { return thread->in_call_since; }
    // Ticks since begin(); Ledger::sane() makes 0 of a clock that ran backwards.
    Ticks ticks_until(Ticks end) const { return end - thread->in_call_since; }
    // Its communicator's handle as it was passed, or no_handle.
    Word comm() const { return static_cast<Word>(thread->in_call_communicator); }
    void set_comm(Word comm) { thread->in_call_communicator = static_cast<std::uint64_t>(comm); }
    // With whom it talks, as passed: the rank that is sent to, or else received from; or the root. Of calls that have
    // none it is another call's.
    int peer() const { return thread->in_call_peer; }
    void set_peer(int peer) { thread->in_call_peer = peer; }
    void set_tag(int tag) { thread->in_call_tag = tag; }
    void set_source(int rank, int tag) {
        thread->in_call_source = rank;
        thread->in_call_source_tag = tag;
    }
    // What it waits for: the only one, and how many.
    void set_request(Word only) { thread->in_call_request = static_cast<std::uint64_t>(only); }
    void set_requests(std::int64_t n) { thread->in_call_requests = static_cast<std::uint32_t>(n); }
    // Where a script made it, an index into `sites`; 0: none did, or it is not known where.
    std::uint32_t script_site() const {
        return thread->script_call == static_cast<std::uint32_t>(since()) ? thread->script_site : 0;
    }
    // Where it was made, as the profile's records of requests and communicators say it: by the address that it returns
    // to, or the site of a script's line.
    std::uint64_t made_from() const {
        const std::uint32_t script = script_site();
        const bool is_scripts = script != 0 && script < format::first_code;
        return is_scripts ? call_key(call_of(key()), script) : key();
    }
    void tell_script(std::uint32_t site) {
        thread->script_site = site;
        __atomic_store_n(&thread->script_call, static_cast<std::uint32_t>(since()), __ATOMIC_RELEASE);
    }
    void count_nested() { thread->nested += 1; }
    // Nobody knows whether it is nested.
    void count_unplaced() { thread->unplaced += thread->unplaced != ~std::uint32_t{0}; }
};

}  // namespace mpiprof
