// Times by events of CUDA or HIP: one recorded on the stream before a launch and one behind it. Where NCCL tells of
// each launch of a kernel they lie around that, else around the call, and contain what the host does in it while the
// stream is idle. Waiting on the GPU is in both. Events that have happened are harvested at later launches; nobody ever
// waits for one, so what has not happened when the process ends is lost, and counted. Used by launches.h.
#pragma once

#include "libmpiprof/base/clock.h"
#include "libmpiprof/gpu/driver.h"
#include "libmpiprof/gpu/times.h"

namespace mpiprof::gpu {

// A context that operations are enqueued in. Events belong to it, and die with it.
struct Context;

// The two events of one launch.
struct Pair {
    Word begin, end;
    Word stream;
    Context* context;
    Pair* next;             // free, or the next younger one whose time is not known yet
    std::uint32_t kernels;  // around which it was recorded; 0: around the call
    std::uint64_t held_ns;  // the stream was idle while the host was so long in the call; 0: that was not long
    Booked what;
};

struct Context {
    Word handle;
    unsigned long long id;  // of two with one handle, one after the other, only one is meant
    std::uint32_t device;
    unsigned failures;  // in a row
    Pair* free;
    // An illegal address is for ever: then nothing is asked of it any more.
    static constexpr unsigned most_failures = 3;
    bool is_dead() const { return __atomic_load_n(&failures, __ATOMIC_RELAXED) >= most_failures; }
};

// What could not be timed, and why.
struct NotTimed {
    std::uint64_t captured;     // into a graph: it is launched another time, or never
    std::uint64_t nonblocking;  // launched by a thread of NCCL's, nobody knows when
    std::uint64_t no_room;      // too many were under way
    std::uint64_t failed;       // the driver returned an error, or could not be asked
    std::uint64_t held_up;      // the GPU had nothing to do while the host was in the call: connecting, for one
    std::uint64_t untold;       // launched without NCCL's telling, as by copy engines
    std::uint64_t unfinished;   // still under way at the end
    bool operator==(const NotTimed&) const = default;
};

class Events {
  public:
    // Where the operations of this stream are enqueued; null if the driver does not say, which is counted.
    Context* context_of(const Driver& driver, Word stream);
    // Whether what is enqueued there goes into a graph, which is counted.
    bool is_capturing(const Driver& driver, Word stream);
    // The first half of a pair, recorded on the stream; null if that is not possible, which is counted.
    Pair* begin(const Driver& driver, Context& context, Word stream);
    // Both; `last` is the context that this was answered for last.
    Pair* begin_on(const Driver& driver, Word stream, Context*& last);
    // What comes now is a kernel: before its first one the first half is recorded once more. False as below.
    bool begin_again(const Driver& driver, Pair& pair, Word stream);
    // The second half. False: the pair is of no use, and gone.
    bool end(const Driver& driver, Pair& pair, Word stream);
    // The host was so long in the call. Asked when it has returned.
    void held_up(const Driver& driver, Pair& pair, std::uint64_t ns);
    static constexpr std::uint64_t long_ns = 50'000;  // several times what a launch takes
    void cancel(Pair& pair) { give_back(pair); }
    // The pair's time is to be booked when it is known.
    void commit(Pair& pair, const Booked& what) {
        pair.what = what;
        commit(pair);
    }
    [[gnu::always_inline]] bool commit(Pair& pair) {  // true: is_due()
        const Guard guard(lock_);
        ++waiting_;
        pair.next = nullptr;
        (youngest_ ? youngest_->next : oldest_) = &pair;
        youngest_ = &pair;
        return is_due();
    }
    // Whether it is time to look what has happened: several were committed since, or the last look is some time ago.
    bool is_due() const {
        return __atomic_load_n(&waiting_, __ATOMIC_RELAXED) >= at_once ||
               counter() - __atomic_load_n(&looked_, __ATOMIC_RELAXED) >= long_ago;
    }
    // Books what has happened meanwhile, looking at the oldest few or at all.
    void harvest(const Driver& driver, unsigned most);
    static constexpr unsigned at_once = 8, a_few = at_once + 4, all = ~0u;
    // The end of a profile: what has not been harvested has no time, unless the process goes on.
    void count_unfinished();

    NotTimed not_timed{};

  private:
    Pair* take(const Driver& driver, Context& context);
    Pair* take_free(Context& context);
    Pair* begin_in(const Driver& driver, Context& context, Word stream);
    bool is_captured(const Driver& driver, Word stream);
    Pair* make(const Driver& driver, Context& context);
    Pair* keep(Word begin, Word end, Context& context);
    void give_back(Pair& pair);
    void harvest_some(const Driver& driver, unsigned most);
    enum class Outcome { booked, not_yet, missed, lost };  // lost: with the pair
    Outcome look_at(const Driver& driver, Pair& pair);
    static void succeeded(Context& context);
    void failed(Context& context);
    bool is_usable(const Driver& driver, Pair& pair, Word stream, Word event);
    Outcome take_time(const Driver& driver, Pair& pair);

    static constexpr unsigned most_pairs = 1024, most_contexts = 16;
    static constexpr unsigned patience = 2;  // pairs not ready yet after which a look at a few ends
    Lock lock_;                              // of the lists
    Lock harvesting_;
    Pair pairs_[most_pairs] = {};
    unsigned made_ = 0;
    Context contexts_[most_contexts] = {};
    unsigned context_count_ = 0;
    Pair* oldest_ = nullptr;
    Pair* youngest_ = nullptr;
    unsigned waiting_ = 0;                             // committed since the last look,
    Ticks looked_ = 0;                                 // which was then
    static constexpr Ticks long_ago = Ticks{1} << 23;  // some milliseconds where the counter is fast
};

}  // namespace mpiprof::gpu
