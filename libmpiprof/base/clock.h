// Ticks: the invariant TSC (or the ARM counter) where the kernel itself trusts it, else CLOCK_MONOTONIC in ns.
// Nothing is calibrated here: anchors (ticks beside MONOTONIC and REALTIME) go into the file, the reporter converts.
// Anchors have the kernel's own clocks, whoever moves the program's.
#pragma once

#include <time.h>

#include "libmpiprof/base/basics.h"
#include "libmpiprof/format/layout.h"

namespace mpiprof {

inline std::uint64_t nanoseconds(clockid_t id) {
    timespec t;
    clock_gettime(id, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

// The same of the kernel itself: another library that was preloaded may move the program's clocks, by taking over
// libc's function.
inline std::uint64_t kernel_nanoseconds(clockid_t id) {
    timespec t;
    if (raw(SYS_clock_gettime, id, raw_address(&t)) != 0) return nanoseconds(id);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

inline Ticks counter() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    Ticks t;
    asm volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#else
    return nanoseconds(CLOCK_MONOTONIC);
#endif
}

// The same between a function's arguments and their use, which stay in their registers: that of the third is the
// counter's, too, and a compiler left alone moves others to make room.
inline Ticks counter_among() { return counter(); }
[[gnu::always_inline]] inline Ticks counter_among(Word& first) {
    in_place<'D'>(first);
    return counter();
}
[[gnu::always_inline]] inline Ticks counter_among(Word& first, Word& second) {
    in_place<'D'>(first);
    in_place<'S'>(second);
    return counter();
}
template <class... Fourth>
[[gnu::always_inline]] inline Ticks counter_among(Word& first, Word& second, [[maybe_unused]] Word& third,
                                                  Fourth&... fourth) {
    in_place<'D'>(first);
    in_place<'S'>(second);
    in_place<'c'>(fourth...);
#if defined(__x86_64__)
    Ticks t, kept;
    asm volatile("movq %%rdx, %1\n\trdtsc\n\tshlq $32, %%rdx\n\torq %%rdx, %%rax\n\tmovq %1, %%rdx"
                 : "=&a"(t), "=&r"(kept), "+d"(third)
                 :
                 : "cc");
    return t;
#else
    return counter();
#endif
}

// `monotonic` is per ledger, so that the hot path finds it in a line that it reads anyway.
inline Ticks now(bool monotonic) { return __builtin_expect(monotonic, 0) ? nanoseconds(CLOCK_MONOTONIC) : counter(); }

// The clock to use: forced by name ("tsc", "mono"), else what the processor and the kernel vouch for.
format::ClockKind choose_clock(const char* forced);

format::Anchor take_anchor(format::ClockKind clock);

// The counter's rate in kHz as the kernel or the processor names it, 0 where they do not. Reads a file: at the end,
// where the clocks disagree.
std::uint64_t named_rate_khz(format::ClockKind clock);

// For how long the machine has slept since it was started.
inline std::uint64_t slept_ns() {
    const std::uint64_t awake = kernel_nanoseconds(CLOCK_MONOTONIC), all = kernel_nanoseconds(CLOCK_BOOTTIME);
    return all > awake ? all - awake : 0;
}

}  // namespace mpiprof
