// The helper thread: wakes up once a period and does one piece of work, so that the program never waits for it. It is
// made by clone(2) without a thread's memory of its own: neither libc nor a debugger's thread library knows it, the
// program's malloc and stdio stay those of a process without threads, and a signal of the program never finds it. What
// it runs may therefore use system calls by raw() only, no errno, no lock, and of libc only what was called before.
// A process that may become another user gets one of libc's instead, if any (Kind).
#pragma once

#include "libmpiprof/base/basics.h"

namespace mpiprof {

// When to work: once a period, not more than a thousandth of the time (but at least every five minutes), and not at all
// once sleeping does not work. Pauses may grow to the period, each at least twice the one before: work is a tenth of
// the time at most meanwhile.
class Pace {
  public:
    // `growing_from_ns` is the first pause; 0: all are as long as the period.
    explicit constexpr Pace(std::uint64_t period_ns = 0, std::uint64_t growing_from_ns = 0)
        : period_ns_(period_ns),
          least_ns_(growing_from_ns != 0 && growing_from_ns < period_ns ? growing_from_ns : period_ns) {}
    // The sleep returned after `slept_ns` of the `wanted_ns`. False: it is to stop; for something keeps it from
    // sleeping, and working without a pause would take a processor from the program.
    bool slept(std::uint64_t wanted_ns, std::uint64_t slept_ns);
    // The pause after work that took `worked_ns`.
    std::uint64_t pause_after(std::uint64_t worked_ns);
    // The longest pause up to now: what a kill can cost.
    std::uint64_t period_ns() const { return longest_ns_ > period_ns_ ? longest_ns_ : period_ns_; }

  private:
    static constexpr unsigned short_sleeps_allowed = 8;
    std::uint64_t period_ns_;
    std::uint64_t least_ns_;  // the next pause is so long at least: the period, once they have grown
    std::uint64_t longest_ns_ = 0;
    std::uint64_t before_ns_ = 0;  // what the work before took
    unsigned short_sleeps_ = 0;
};

class Helper {
  public:
    // `period_ns` is the pause in force from now on. Returns for how long it may stay away at most.
    using Work = std::uint64_t (*)(void* context, std::uint64_t period_ns);
    enum class Kind : std::uint8_t {
        bare,   // known to the kernel alone
        libcs,  // made by pthread_create: libc's setuid() and the like reach it
        once,   // as bare, for one piece of work that somebody waits for, with the rights of who does
    };
    static constexpr std::uint64_t when_asked = std::uint64_t{1} << 62;  // as a period: only when the work asks for it

    // Starts the thread: the first work after `first_ns`, then as Pace says. False: the kernel refuses, or there is
    // one.
    bool start(Work work, void* context, std::uint64_t period_ns, std::uint64_t first_ns,
               std::uint64_t growing_from_ns = 0, Kind kind = Kind::bare);
    // Has a thread do it once, and waits for it, but not longer than this. False: it is at it still, and there is
    // nothing more to be had of this Helper. The work may use neither errno nor what else is a thread's own.
    bool do_once(Work work, void* context, std::uint64_t patience_ns);
    // Ends the thread and waits for it, but not for work that hangs on a dead file system.
    void stop();
    bool is_told() const { return __atomic_load_n(&stop_, __ATOMIC_ACQUIRE) != 0; }  // to stop
    bool is_running() const { return state() != 0; }
    // 0: it does not run, or has not said its number yet.
    std::uint32_t thread() const { return state() == not_yet_known ? 0 : state(); }

  private:
    static constexpr std::uint32_t not_yet_known = ~std::uint32_t{0};
    std::uint32_t state() const { return __atomic_load_n(&thread_, __ATOMIC_ACQUIRE); }
    static void run(Helper* self);
    static void* run_of_libc(void* self);
    bool make(Kind kind);
    bool make_bare();
    bool make_of_libc();
    bool is_alone() const;
    void work_until_told();
    bool ends_within(std::uint64_t ns);
    std::uint64_t sleep(std::uint64_t ns);

    Work work_ = nullptr;
    void* context_ = nullptr;
    Pace pace_;
    std::uint64_t first_ns_ = 0;
    std::uint32_t stop_ = 0;    // a futex
    std::uint32_t thread_ = 0;  // the kernel's number; cleared when the thread is gone, or done
    Kind kind_ = Kind::bare;
    void* stack_ = nullptr;
};

// Whether this process has threads already (MPI libraries make some). Where it has none, code may rely on that.
bool has_threads();

}  // namespace mpiprof
