// The few words that every room of the preloaded library speaks: register words, ticks, a lock, private memory.
// Included by every room above. Nothing here allocates on the hot path or needs more than libc.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "libmpiprof/base/raw.h"

namespace mpiprof {

using Word = std::intptr_t;  // one register-wide argument or result of a wrapped call
using Ticks = std::uint64_t;
using Bytes = std::uint64_t;

// Counters have one writer (their thread) and readers in other processes: plain single-copy stores, no locked cycle.
inline std::uint64_t relaxed(const std::uint64_t& word) { return __atomic_load_n(&word, __ATOMIC_RELAXED); }
inline void relaxed(std::uint64_t& word, std::uint64_t value) { __atomic_store_n(&word, value, __ATOMIC_RELAXED); }
inline void add(std::uint64_t& word, std::uint64_t value) { relaxed(word, relaxed(word) + value); }
// What could not be kept is counted by all threads, on slow paths.
inline void count_drop(std::uint64_t& word) { __atomic_fetch_add(&word, 1, __ATOMIC_RELAXED); }

// Tells the compiler that an argument is still (or again) in the register in which it is passed: 'D' the first, 'S',
// 'd', 'c' the others. Registers for everything between are then chosen among the free ones, and nothing is moved there
// and back.
template <char Register, class... Others>
[[gnu::always_inline]] inline void in_place([[maybe_unused]] Word& argument, Others&...) {
#if defined(__x86_64__)
    if constexpr (Register == 'D') asm("" : "+D"(argument));
    if constexpr (Register == 'S') asm("" : "+S"(argument));
    if constexpr (Register == 'd') asm("" : "+d"(argument));
    if constexpr (Register == 'c') asm("" : "+c"(argument));
#endif
}
template <char>
inline void in_place() {}

// Guards slow paths only (first sight of a site, a new thread). Never held across a user's MPI call.
// Constant-initialised.
class Lock {
  public:
    void lock() {
        while (taken_.exchange(1, std::memory_order_acquire)) raw(SYS_sched_yield);
    }
    bool try_lock() { return taken_.exchange(1, std::memory_order_acquire) == 0; }
    void unlock() { taken_.store(0, std::memory_order_release); }

  private:
    std::atomic<std::uint32_t> taken_{0};
};

class Guard {
  public:
    explicit Guard(Lock& lock) : lock_(lock) { lock_.lock(); }
    ~Guard() { lock_.unlock(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

  private:
    Lock& lock_;
};

// Zeroed private pages, never given back (the library is immortal); null where the kernel refuses.
inline void* private_pages(std::size_t bytes) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? nullptr : p;
}

inline std::uint64_t mix(std::uint64_t x) {  // Fibonacci hashing: the upper bits are the good ones
    return x * 0x9e3779b97f4a7c15ull;
}

// Whether two handles, or keys made of them, may be one: C passes a handle of 32 bits with whatever lies in the upper
// half of its register. What is forgotten by this may be another's, and is asked for again.
inline bool may_be_same_handle(Word a, Word b) {
    return static_cast<std::uint32_t>(a) == static_cast<std::uint32_t>(b);
}

// Position of the highest bit that is set; x is not 0.
inline std::uint64_t top_bit(std::uint64_t x) {
#if defined(__x86_64__)
    if (__builtin_constant_p(x)) return 63u ^ static_cast<unsigned>(__builtin_clzll(x));
    // As wide as the processor's answer: the compiler's builtin would be widened by an instruction more.
    std::uint64_t top;
    asm("bsrq %1, %0" : "=r"(top) : "r"(x) : "cc");
    if (top > 63) __builtin_unreachable();
    return top;
#else
    return 63u ^ static_cast<unsigned>(__builtin_clzll(x));
#endif
}

// A hash for the hot path, of the lower half of x and for at most 12 bits: an instruction shorter than mix().
template <unsigned Bits>
std::size_t short_hash(std::uint64_t x) {
    static_assert(Bits <= 12);
    constexpr std::int64_t multiplier = -0x61c8864f;  // 2^32 / golden ratio, as a signed immediate
    return x * static_cast<std::uint64_t>(multiplier) >> (32 - Bits) & ((1u << Bits) - 1);
}

}  // namespace mpiprof
