// The trace of one thread, only where the user asks for one (MPIPROF_TRACE): its last events in a ring that lies in the
// image, so it is there whatever ends the process. Part of the ledger, whose thread alone writes it. Numbers the
// messages to and from each rank, and the collectives of each communicator, so that the reporter can tell which belong
// together.
#pragma once

#include "libmpiprof/base/open_table.h"
#include "libmpiprof/record/requests.h"

namespace mpiprof {

// With whom, as far as the call in hand says so.
struct TraceSide {
    std::uint32_t peer = format::peer_unknown;
    int tag = -1;
    std::uint8_t flags = 0;          // format::trace_sends or trace_receives: it is a message, to be numbered
    std::uint16_t communicator = 0;  // where the call does not name one
};

class Trace {
  public:
    // The most events that a thread may have: with all else they fit into an image.
    static constexpr std::uint32_t most_events = 1'000'000, fewest_events = 256;
    // A ring for `events`, or for a half, a quarter ... of them where there is no room for more. Null: not even for a
    // few.
    static Trace* create(Records& records, std::uint32_t thread, std::uint32_t events);
    std::uint32_t capacity() const { return capacity_; }

    using Side = TraceSide;
    // The call in hand, booked by `m`, or what it received besides. `side`: with whom.
    void call(const CallInHand& hand, const Memo& m, Bytes bytes, Ticks ticks, const Side& side = {},
              format::TraceKind kind = format::TraceKind::call);
    void error(const CallInHand& hand, Ticks ticks);
    // A persistent request was started, or one was completed at `end`; null: its partner is not known. Of one that
    // received from whoever sent first `side` says who it was.
    void start(const CallInHand& hand, Requests::Partner& partner, Ticks since, Bytes bytes);
    void completion(const CallInHand& hand, Ticks since, Ticks end, Requests::Partner* partner, const Side& side);
    void region(format::TraceKind kind, std::uint16_t region, Ticks now, std::uint64_t items);

    // The tags that the call in hand was given, of what it sends and of what it receives; negative: any.
    int sent_tag = -1, received_tag = -1;

  private:
    void add(const format::TraceEvent& event) {
        events_[next_] = event;
        next_ = next_ + 1 == capacity_ ? 0 : next_ + 1;
        __atomic_store_n(&head_->written, head_->written + 1, __ATOMIC_RELEASE);
    }
    // The number of the next of its kind; 0 if it is none that is known.
    std::uint32_t next_number(std::uint16_t communicator, const Side& side);
    format::TraceEvent event_in_hand(const CallInHand& hand, format::TraceKind kind) const;

    struct Channel {
        std::uint32_t peer;
        std::int32_t tag;
        std::uint16_t communicator;
        std::uint8_t flags;  // 0: free
        std::uint32_t count;
        bool is_free() const { return flags == 0; }
    };
    static std::uint64_t hash_of(const Channel& channel);

    Records* records_;
    format::TraceHead* head_;
    format::TraceEvent* events_;
    std::uint32_t capacity_, next_;
    OpenTable<Channel, OpenTableSize{.inside = 0, .outside = 256, .most = 65536}> channels_;
};

}  // namespace mpiprof
