// What all ledgers of a process share: the image, and what in it is the rank's and not a thread's. Handed to each
// ledger and its parts by the runtime, which has the only one.
#pragma once

#include "libmpiprof/record/arrivals.h"
#include "libmpiprof/record/catalogue.h"
#include "libmpiprof/record/communicator_table.h"
#include "libmpiprof/record/ended_handles.h"
#include "libmpiprof/record/enqueued.h"
#include "libmpiprof/record/live_types.h"
#include "libmpiprof/record/regions.h"
#include "libmpiprof/record/request_table.h"
#include "libmpiprof/record/sites.h"

namespace mpiprof {

inline constexpr std::uint16_t any_call = 0xffff;  // a thread's last resort

// Where a thread finds a request that another has posted.
struct GuardedRequests {
    class Requests* threads;  // the newest of those that have any; each knows the next
    // Of all handles with the same hash: a hint.
    struct Place {
        class Requests* last_poster;
        std::uint64_t booked_early;  // by the thread that got their handle again, before those that waited said so
        Ticks last_posted;           // the newest of them, by whichever thread
    };
    static constexpr unsigned bits = 10;
    Place places[1u << bits];
    Place& place(Word handle) { return places[short_hash<bits>(static_cast<std::uint64_t>(handle))]; }
};

struct Records {
    // What is small comes first: most pages of the tables behind it are never touched.
    Image image;
    Catalogue catalogue;
    format::ClockKind clock;
    Lock lock;  // for the dictionary
    Rows<format::CallRecord, 48> dictionary;
    std::uint64_t in_dictionary[32];      // a bit per call id
    std::uint32_t peers;                  // records of them, of all threads
    void (*sometimes)();                  // asked now and then by threads that call; null: nothing waits for a time
    std::uint32_t trace_events;           // that each thread's trace keeps; 0: there is none
    std::uint64_t forgets;                // how often all that memos know became untrue
    LiveTypes types;                      // made and not freed
    std::uint64_t languages_of_requests;  // whose handles for requests differ, a bit each
    Sites sites;
    Regions regions;
    CommunicatorTable communicators;
    Arrivals arrivals;
    EnqueuedCollectives enqueued;
    EnqueuedPeers enqueued_peers;
    EndedHandles ended;                      // for the other threads
    GuardedRequests guarded;                 // requests that threads may complete for each other
    RequestTable::Shown requests_of_nobody;  // where threads show their requests that found no room for it

    // Before the first ledger is made.
    void open(const Catalogue& of) {
        catalogue = of;
        communicators.open();
    }
    void publish_call(std::uint16_t call) {
        if (!is_published(call)) [[unlikely]]
            add_call(call);
    }
    // Whether a thread may complete what another has posted: MPI lets more than one call it (MPI_THREAD_SERIALIZED).
    bool requests_cross_threads() const { return image.header().thread_level >= 2; }
    // Whether more languages than one were seen to post and complete requests.
    bool languages_mix() const {
        const std::uint64_t seen = relaxed(languages_of_requests);
        return (seen & (seen - 1)) != 0;
    }
    // A clock that ran backwards.
    void count_backwards() { count_drop(image.header().drops.backwards); }

  private:
    // any_call's bit is the last, which no id of a catalogue reaches.
    std::uint64_t& bits_of(std::uint16_t call) { return in_dictionary[call / 64 % 32]; }
    bool is_published(std::uint16_t call) {
        return __atomic_load_n(&bits_of(call), __ATOMIC_ACQUIRE) >> (call % 64) & 1;
    }
    void add_call(std::uint16_t call);
};

}  // namespace mpiprof
