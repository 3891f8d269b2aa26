// Three readings of some two microseconds each, per stretch.
#include "libmpiprof/record/processor_stretches.h"

#include "libmpiprof/base/clock.h"
#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/text.h"

namespace mpiprof {
namespace {

// 25 ms by the counter of a processor of 2.7 GHz, 67 ms by the other clock.
constexpr unsigned log2_rest = 26;
// A call that begins so long after it was announced is another one: that one failed.
constexpr Ticks longest_entry = Ticks{1} << 20;

}  // namespace

void ProcessorStretches::open(format::Thread& shown, Ticks now) {
    shown_ = &shown;
    rest(now);
}

// By chance between one and three times as long, and up to three calls more: the rest ends in a long stretch rather
// than in a short one, and what is behind the long one is seldom another.
void ProcessorStretches::rest(Ticks now) {
    const std::uint64_t chance = now * 0x9e3779b97f4a7c15u;
    step_ = Step::idle;
    skips_ = chance >> 8 & 3;
    due_ = now + (Ticks{1} << log2_rest) + (chance >> (64 - log2_rest - 1));
}

// The time it ran by the clock, which is exact: the text counts whole ticks of the kernel's.
bool ProcessorStretches::read(Account& account) {
    char text[96];
    if (slurp("/proc/thread-self/schedstat", text, sizeof text) == 0) return false;
    std::uint64_t whole_ticks = 0;
    const char* next = read_number(text, whole_ticks);
    while (*next == ' ') ++next;
    read_number(next, account.waited_ns);
    account.ran_ns = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    return true;
}

bool ProcessorStretches::after_call(Ticks since, Ticks end) {
    if (Account now; step_ == Step::in_call && since - began_ < longest_entry && read(now)) {
        add(shown_->between_calls_ticks, began_ - ended_);
        add(shown_->between_calls_waited_ns, at_begin_.waited_ns - when_ended_.waited_ns);
        add(shown_->between_calls_ran_ns, at_begin_.ran_ns - when_ended_.ran_ns);
        add(shown_->in_calls_ticks, end - began_);
        add(shown_->in_calls_waited_ns, now.waited_ns - at_begin_.waited_ns);
    }
    if (step_ != Step::idle) {  // done, or the next call was not one with a clock
        rest(end);
        return false;
    }
    due_ = 0;
    if (skips_ != 0) {
        --skips_;
        return false;
    }
    if (!read(when_ended_)) {
        due_ = ~Ticks{0};
        return false;
    }
    step_ = Step::between_calls;
    ended_ = end;
    return true;
}

void ProcessorStretches::before_call(Ticks now) {
    if (!read(at_begin_)) return;
    step_ = Step::in_call;
    began_ = now;
}

}  // namespace mpiprof
