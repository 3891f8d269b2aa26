// How long what NCCL launches is on the GPU. A launch is a lone operation, or all that a group enqueued: it is opened
// by the thread that makes it, told what it consists of, and its time is booked when the GPU has done it, which is
// later. A group has a share on each stream that it uses, and each share has a time of its own.
//
// Called by nccl/ around the real calls, in the plain form of its wrappers alone, outside the timed interval; where
// there is no GPU or the user wants none of this, is_on() is false and the wrappers keep their fast form. Where NCCL
// tells of the launches of its kernels, also around these, in whichever thread it makes them.
#pragma once

#include "libmpiprof/gpu/cupti.h"
#include "libmpiprof/gpu/events.h"

namespace mpiprof::gpu {

// One operation that was enqueued.
struct Operation {
    std::uint16_t call;
    std::uint8_t bin;
    std::uint16_t communicator;
    Bytes bytes;
    Traffic traffic;
    bool needs_all;                  // no member is done before all others have come
    bool has_kernel;                 // with one rank, or for a collective without bytes, NCCL launches none
    bool is_nonblocking;             // a thread of NCCL's launches it
    bool is_own;                     // sent to, or received from, the rank itself
    bool is_told_elsewhere = false;  // in the thread that launches it NCCL tells of it, once and by its name
    bool is_collective() const { return traffic == Traffic::collective; }
};

// What some operations that end together move. A link carries both directions at a time: of what is sent and received
// the larger counts, as nccl-tests has it.
struct Moved {
    struct Directions {
        Bytes sent, received;
        Bytes larger() const { return sent > received ? sent : received; }
    };
    Bytes collective;
    Directions all, others;  // others: not to or from the rank itself
    void add(const Operation& operation) {
        const bool is_sent = operation.traffic == Traffic::send;
        if (!is_sent && operation.traffic != Traffic::receive) {
            collective += operation.bytes;
            return;
        }
        (is_sent ? all.sent : all.received) += operation.bytes;
        if (!operation.is_own) (is_sent ? others.sent : others.received) += operation.bytes;
    }
    Bytes bytes() const { return collective + all.larger(); }
};

// What of a launch lies on one stream.
struct Share {
    Word stream;
    Context* context;
    Pair* pair;            // its time by events,
    bool is_awaited;       // NCCL will tell when its first kernel is launched: then a pair is begun
    std::uint64_t traced;  // or by CUPTI, which knows it by this number; 0: it does not
    unsigned operations;
    std::uint64_t calls;  // which functions they are of, a bit for each
    Moved moved;
    Booked what;  // of the first operation, with the bytes of all
};

struct Launch {
    static constexpr unsigned most_shares = 8;
    std::atomic<bool> is_taken;
    std::uint64_t group;  // which group of its thread it is
    bool is_pushed;       // CUPTI knows that it is in hand
    bool is_elsewhere;    // no call of this thread makes it
    Share* launched;      // whose kernel is being launched, as NCCL tells
    std::uint64_t since;  // when the real call began, in nanoseconds
    unsigned count;
    Share shares[most_shares];
};

// What the real call did with what it was asked to enqueue: it failed, it is on the stream, or another thread of the
// library's will put it there (nonblocking communicators).
enum class Outcome : std::uint8_t { failed, enqueued, in_progress };

// The launch that a thread has in hand.
[[gnu::visibility("hidden")]] extern constinit thread_local Launch* in_hand __attribute__((tls_model("initial-exec")));

// A lone operation of whose kernel NCCL will tell, as its thread has it in hand: nothing lies on its stream before.
// These are most of all launches, so no more is kept of them than two events and what is booked by them.
struct Lone {
    bool is_in_hand, is_awaited, is_launching;
    Word stream;
    std::uint64_t calls;  // which function it is of, as a bit
    Pair* pair;           // null: it has no time
    Context* context;     // of the last one
};
[[gnu::visibility("hidden")]] extern constinit thread_local Lone lone __attribute__((tls_model("initial-exec")));

// Functions, as a set. Two that share a bit are timed as the one of which NCCL tells less.
inline std::uint64_t bit_of(std::uint16_t call) { return std::uint64_t{1} << call % 64; }

class Launches {
  public:
    // Whether times are taken. Decided at the first question, which is asked when an operation is to be enqueued.
    bool is_on() {
        const Source source = source_.load(std::memory_order_acquire);
        if (source == Source::undecided) [[unlikely]]
            return is_on_now();
        return source != Source::none && !__atomic_load_n(&is_over_, __ATOMIC_RELAXED);
    }

    // A lone operation: before and behind the real call, then what it was. A call that failed, or went on in another
    // thread, has no third part.
    void begin_alone(Word stream, std::uint16_t call);
    // True: the first is done, by this.
    [[gnu::always_inline]] bool is_begun_at_once(Word stream, std::uint16_t call) {
        return !in_hand && !lone.is_in_hand && begin_lone(stream, bit_of(call));
    }
    void end_real_call(Outcome outcome);
    void describe(const Operation& operation);
    // The same, where lone.is_in_hand. One that a thread of NCCL's launches has its times there.
    [[gnu::always_inline]] void describe_lone(const Operation& operation) {
        std::uint64_t number = operation.is_collective() ? times.enqueue(operation.communicator) : 0;
        if (!operation.needs_all) number = 0;
        if (!operation.has_kernel) [[unlikely]]
            return drop_lone();
        if (lone.is_awaited) [[unlikely]] {
            if (!operation.is_nonblocking) miss(lone.calls);
            if (operation.is_told_elsewhere) hand_over();
        }
        lone.is_in_hand = false;
        Pair* pair = lone.pair;
        if (!pair) [[unlikely]]
            return;
        lone.pair = nullptr;
        const std::uint16_t communicator = operation.communicator;
        pair->what = {operation.call, operation.bin, communicator, 0, operation.bytes, 0, number, communicator};
        if (events_.commit(*pair)) events_.harvest(driver_, Events::a_few);
    }
    // A group: its operations as they are enqueued; `group` tells it from the thread's other ones.
    void enqueue(std::uint64_t group, Word stream, const Operation& operation);
    void begin_group(std::uint64_t group);    // its end is called, and launches
    void describe_group(std::uint16_t call);  // end_real_call() came before
    // The thread's launch, if any, is none.
    void drop();
    // A collective that is not recorded, so that all ranks number them alike.
    void count_only(std::uint16_t communicator);
    // Something was enqueued while nothing is recorded.
    void pass();

    // NCCL tells of the launches of its kernels from now on.
    void will_be_told();
    // Such a launch, in the thread that makes it: before and behind it. Then, where no call of that thread is watched
    // (NCCL that is static, or launches in a thread of its own), what the kernel did, and that this was all.
    void begin_kernel(Word stream, bool is_in_a_call);
    // The same, where lone.is_in_hand by a call of this thread. Of a default stream the current context is meant, which
    // is the right one by now. Of several kernels the first half lies before the first, the second behind the last.
    [[gnu::always_inline]] void begin_lone_kernel(Word stream) {
        if (stream != lone.stream) return;
        if (lone.is_awaited) {
            lone.is_awaited = false;
            lone.pair = events_.begin_on(driver_, stream, lone.context);
        }
        if (!lone.pair) return;
        lone.pair->kernels += 1;
        lone.is_launching = true;
    }
    void end_kernel() {
        if (!lone.is_launching) return end_kernel_in_hand();
        lone.is_launching = false;
        if (!events_.end(driver_, *lone.pair, lone.stream)) lone.pair = nullptr;
    }
    void kernel_did(const Operation& operation);
    void end_of_kernels(std::uint16_t group_end);

    // Books what has happened by now: when a communicator ends, and at the end of the profile.
    void settle();
    void end_of_profile(bool forced);
    void end_of_process();

  private:
    enum class Source : std::uint8_t { undecided, none, some };
    enum class WantsCupti : std::uint8_t { never, as_sample, in_window, always };
    bool is_on_now();
    Source decide();
    Launch* take();
    Share* share_on(Launch& launch, Word stream);
    void begin(Launch& launch);
    void choose_source();
    bool is_cuptis_turn();
    void end_cuptis_turn();
    void try_cupti();
    bool is_same(const Share& share, Word stream, const Context& context) const;
    bool uses_cupti() const { return the_cupti.is_active(); }
    void begin_traced(Launch& launch);
    void book(Launch& launch, std::uint16_t group_end);
    void note_source(const char* text);
    void note_events();
    bool is_told_elsewhere() const;
    // Whether NCCL tells of the kernels of these: then nothing is recorded on a stream before it does. Not of all
    // functions it does: what the GPU's copy engines do it tells in no version, and of Broadcast not in 2.30.
    bool awaits_kernels(std::uint64_t calls) const {
        return (calls & ~told_calls_.load(std::memory_order_relaxed)) == 0 &&
               (calls & silent_calls_.load(std::memory_order_relaxed)) == 0;
    }
    Pair* pair_of_kernel(Share& share);
    void learn_that_told(std::uint64_t calls);
    void miss(std::uint64_t calls);
    void leave_elsewhere(Share& share, const Operation& operation);
    void hand_over();
    void answer(const Operation& operation);
    std::uint64_t not_answered() const;
    void end_kernel_in_hand();
    // False: it takes the way of all others.
    [[gnu::always_inline]] bool begin_lone(Word stream, std::uint64_t calls) {
        if (__atomic_load_n(&without_cupti_, __ATOMIC_RELAXED) != gate_epoch() || !awaits_kernels(calls)) [[unlikely]]
            return false;
        lone.is_in_hand = lone.is_awaited = true;
        lone.is_launching = false;
        lone.stream = stream;
        lone.calls = calls;
        lone.pair = nullptr;
        return true;
    }
    void drop_lone();
    void harvest_if_due() {
        if (events_.is_due()) events_.harvest(driver_, Events::a_few);
    }
    bool is_missed(const Operation& operation);
    bool is_here(const Share& share) const;
    void begin_kernel_elsewhere(Word stream);
    void look_whether_held_up(Launch& launch);
    static void note_number(const char* name, std::uint64_t number, std::uint64_t& noted);
    void note_what_is_missing();
    bool may_ask(const OwnErrors& errors);
    void harvest_all();

    static constexpr unsigned most_launches = 64;  // under construction at the same time, one per thread
    std::atomic<Source> source_{Source::undecided};
    Lock lock_;  // of decisions
    std::atomic<bool> is_told_{false};
    std::atomic<std::uint64_t> told_calls_{0};    // bits of functions of whose kernels NCCL has told,
    std::atomic<std::uint64_t> silent_calls_{0};  // and of those of which it has not told all
    // Operations that a thread of NCCL's was to launch, and those of whose launch it told there.
    std::atomic<std::uint64_t> handed_over_{0}, answered_{0};
    WantsCupti wants_cupti_ = WantsCupti::never;
    // The gate's epoch in which nothing but CUDA's events is to be thought of; 0: none.
    std::uint64_t without_cupti_ = 0;
    // In a window CUPTI is on for that long in all; a sample begins after so long, and is a twelfth of it.
    std::uint64_t cupti_ns_ = 0;
    std::uint64_t since_ns_ = 0;   // when the first operation was enqueued
    std::uint64_t used_ns_ = 0;    // CUPTI has been on so far
    std::uint64_t looked_ns_ = 0;  // up to here
    bool is_turn_over_ = false;    // for good
    static constexpr unsigned most_changes = 8;
    unsigned changes_ = 0;
    char noted_source_[80] = {};
    bool is_failure_noted_ = false;
    bool is_over_ = false;  // the driver may be gone
    NotTimed noted_{};
    std::uint64_t dropped_ = 0;
    Driver driver_{};
    Events events_{};
    Launch launches_[most_launches] = {};
};

[[gnu::visibility("hidden")]] extern constinit Launches launches;

}  // namespace mpiprof::gpu
