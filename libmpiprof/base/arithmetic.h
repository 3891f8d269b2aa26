// The program's floating point is its own: the traps that it unmasked, its rounding and its sticky flags. What computes
// in floating point here does so by with_own_arithmetic(), at the door of the slow path that it belongs to;
// `tests/library` looks for such instructions everywhere else. The registers themselves are written: fenv.h is in libm.
// Never used on the path of a call.
#pragma once

#include <cstdint>

namespace mpiprof {

// What a process begins with: rounding to nearest, nothing trapped, no flag raised.
#if defined(__x86_64__)
inline constexpr std::uint32_t plain_mxcsr = 0x1f80;
inline constexpr std::uint16_t plain_x87 = 0x37f;
inline void use_plain_arithmetic() {
    asm volatile("fnclex\n\tfldcw %0\n\tldmxcsr %1" : : "m"(plain_x87), "m"(plain_mxcsr) : "memory");
}
#elif defined(__aarch64__)
inline void use_plain_arithmetic() {
    asm volatile("msr fpcr, %0\n\tmsr fpsr, %0" : : "r"(std::uint64_t{0}) : "memory");
}
#else
inline void use_plain_arithmetic() {}
#endif

// Plain while it lives, and then as it was, flags included.
class OwnArithmetic {
  public:
    OwnArithmetic() {
#if defined(__x86_64__)
        asm volatile("fnstenv %0\n\tstmxcsr %1" : "=m"(x87_), "=m"(mxcsr_) : : "memory");
#elif defined(__aarch64__)
        asm volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control_), "=r"(status_) : : "memory");
#endif
        use_plain_arithmetic();
    }
    ~OwnArithmetic() {
#if defined(__x86_64__)
        asm volatile("fldenv %0\n\tldmxcsr %1" : : "m"(x87_), "m"(mxcsr_) : "memory");
#elif defined(__aarch64__)
        asm volatile("msr fpsr, %1\n\tmsr fpcr, %0" : : "r"(control_), "r"(status_) : "memory");
#endif
    }
    OwnArithmetic(const OwnArithmetic&) = delete;
    OwnArithmetic& operator=(const OwnArithmetic&) = delete;

  private:
#if defined(__x86_64__)
    struct Environment {
        std::uint32_t words[7];
    } x87_;
    std::uint32_t mxcsr_;
#elif defined(__aarch64__)
    std::uint64_t control_, status_;
#endif
};

// A function of its own, so that the compiler moves no part of the work out of it, to before or behind.
template <class Work>
[[gnu::noinline]] auto done(Work& work) {
    return work();
}
template <class Work>
auto with_own_arithmetic(Work work) {
    const OwnArithmetic own;
    return done(work);
}

}  // namespace mpiprof
