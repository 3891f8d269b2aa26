// Leaves zeros where the slow path worked on the program's stack. A program that reads a variable before it sets it
// finds what the last function left there: ScaLAPACK's pdgerfs does so, and a word of -1 of ours, which is no number,
// made its ranks part and hang. Called behind the slow path only; the fast one leaves a few words.
#pragma once

#include <string.h>

#include <cstddef>

namespace mpiprof {

// The stack below the caller's frame, so many bytes of it.
template <unsigned Bytes>
[[gnu::noinline]] inline void clear_used_stack() {
    // libc's memset() stores what is longer byte by byte, in microcode: slower than by words, and not to be counted.
    constexpr unsigned most_at_once = 2048;
    char used[Bytes];
    std::size_t bytes = Bytes < most_at_once ? Bytes : most_at_once;
    static_assert(Bytes <= most_at_once || Bytes % most_at_once == 0);
    asm("" : "+r"(bytes));  // else the compiler stores word by word
    for (unsigned at = 0; at < Bytes; at += most_at_once) memset(used + at, 0, bytes);
    asm volatile("" : : "r"(used) : "memory");
}

}  // namespace mpiprof
