// The stack that a thread was made with, as far as its bounds are known: the one stack that stays where it is as long
// as the thread lives. Any other (a fiber's, a signal handler's) may be given back, and a shorter one come to its
// place. So nothing is read above a frame because something lay there before, unless the frame lies on this one. The
// ledger asks when it meets a new place in the program, never on the hot path.
#pragma once

#include "libmpiprof/base/basics.h"

namespace mpiprof {

// What the process began on, up to the name of the program, which the kernel laid at its top. It never goes.
class FirstStack {
  public:
    // From there to its end, all of which may be read; 0: it is another's, or not known.
    static std::uintptr_t bytes_above(std::uintptr_t at) {
        const std::uintptr_t end = __atomic_load_n(&end_, __ATOMIC_RELAXED);
        const std::uintptr_t begin = __atomic_load_n(&begin_, __ATOMIC_RELAXED);
        return at >= begin && at < end ? end - at : look_below(at);
    }

  private:
    static std::uintptr_t look_below(std::uintptr_t at);
    // Deeper frames are met one after the other: so far down it was all mapped when it was last looked at.
    static inline constinit std::uintptr_t end_ = 0, begin_ = ~std::uintptr_t{0};
};

class NativeStack {
  public:
    constexpr NativeStack() = default;
    constexpr NativeStack(std::uintptr_t begin, std::uintptr_t end) : begin_(begin), end_(end) {}
    // By the thread itself: the bounds that libc keeps of it. Empty where it keeps none, or the thread is not libc's.
    static NativeStack of_this_thread();
    // From there to its end, all of which may be read as long as the thread lives; 0: it is another's, or not known.
    std::size_t words_above(const Word* at) const {
        const auto address = reinterpret_cast<std::uintptr_t>(at);
        const std::uintptr_t bytes =
            address - begin_ < end_ - begin_ ? end_ - address : FirstStack::bytes_above(address);
        return bytes / sizeof(Word);
    }
    bool holds(const Word* at) const { return words_above(at) != 0; }
    // What the stack may still grow by from there; 0: it is another's, or not known.
    std::size_t bytes_below(const Word* at) const;
    // The word there, which may lie on any stack, or none. False: nothing may be read there. `near`: what surely may.
    bool read(const Word* at, const Word* near, Word& word) const {
        constexpr std::uintptr_t page = 4096;
        const auto distance = reinterpret_cast<std::uintptr_t>(at) ^ reinterpret_cast<std::uintptr_t>(near);
        if (distance >= page && !holds(at)) [[unlikely]]
            return read_elsewhere(at, word);
        word = *at;
        return true;
    }
    bool operator==(const NativeStack&) const = default;

  private:
    static bool read_elsewhere(const Word* at, Word& word);
    std::uintptr_t begin_ = 0, end_ = 0;
};

}  // namespace mpiprof
