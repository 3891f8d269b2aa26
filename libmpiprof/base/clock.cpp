// Which clock, and the anchors that tie its ticks to time. Called at start, at updates and at the end.
#include "libmpiprof/base/clock.h"

#include <string.h>

#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/text.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mpiprof {
namespace {

using format::ClockKind;

#if defined(__x86_64__)
// CPUID promises a constant rate; that the kernel still uses the TSC says that it found it stable on all cores.
bool tsc_is_trusted() {
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & (1u << 8))) return false;
    char source[16];
    return strcmp(first_line_of("/sys/devices/system/clocksource/clocksource0/current_clocksource", source), "tsc") ==
           0;
}
constexpr ClockKind counter_kind = ClockKind::tsc;
#elif defined(__aarch64__)
bool tsc_is_trusted() { return true; }  // the architecture defines cntvct_el0 as one constant-rate clock
constexpr ClockKind counter_kind = ClockKind::cntvct;
#else
bool tsc_is_trusted() { return false; }
constexpr ClockKind counter_kind = ClockKind::monotonic;
#endif

}  // namespace

ClockKind choose_clock(const char* forced) {
    if (forced && strcmp(forced, "tsc") == 0) return counter_kind;
    if (forced && strcmp(forced, "mono") == 0) return ClockKind::monotonic;
    return tsc_is_trusted() ? counter_kind : ClockKind::monotonic;
}

format::Anchor take_anchor(ClockKind clock) {
    format::Anchor best{};
    std::uint64_t narrowest = ~std::uint64_t{0};
    for (int i = 0; i < 4; ++i) {  // an interrupt between the reads widens the bracket: keep the narrowest
        const Ticks before = now(clock == ClockKind::monotonic);
        const std::uint64_t mono = kernel_nanoseconds(CLOCK_MONOTONIC);
        const Ticks after = now(clock == ClockKind::monotonic);
        if (after - before >= narrowest) continue;
        narrowest = after - before;
        // A tick of the other kind is the program's nanosecond, the same as the kernel's unless somebody moves it.
        const bool is_among = clock == ClockKind::monotonic && before <= mono && mono <= after;
        best = {is_among ? mono : before + (after - before) / 2, mono, kernel_nanoseconds(CLOCK_REALTIME)};
    }
    return best;
}

std::uint64_t named_rate_khz([[maybe_unused]] ClockKind clock) {
    std::uint64_t khz = 0;
    if (clock == ClockKind::monotonic) return 1'000'000;
#if defined(__x86_64__)
    // The first processor's "bogomips" is twice the rate in MHz, with two decimals: the kernel waits by this counter.
    char text[2048];
    slurp("/proc/cpuinfo", text, sizeof text);
    const char* found = strstr(text, "bogomips");
    found = found ? strchr(found, ':') : nullptr;
    if (!found) return 0;
    for (++found; *found == ' ';) ++found;
    std::uint64_t whole = 0, hundredths = 0;
    const char* end = read_number(found, whole);
    if (end[0] == '.') read_number(end + 1, hundredths);
    khz = (whole * 1000 + hundredths * 10) / 2;
#elif defined(__aarch64__)
    asm volatile("mrs %0, cntfrq_el0" : "=r"(khz));
    khz /= 1000;
#endif
    return khz;
}

}  // namespace mpiprof
