// System calls without libc: they return -error and touch neither errno nor anything else that belongs to a thread.
// Used by all that the helper thread does, which runs on the stack pointer alone (process/helper.h), and by whoever
// must leave the program's errno as it is.
#pragma once

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mpiprof {

// False on processors whose calling convention is not written down here: then there is no helper thread. Nor is there
// one under the thread sanitizer, whose own code in every function needs a thread's memory.
#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(__SANITIZE_THREAD__)
inline constexpr bool has_raw_calls = true;
#else
inline constexpr bool has_raw_calls = false;
#endif

inline long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
#if defined(__x86_64__)
    long result;
    register long r10 asm("r10") = d;
    register long r8 asm("r8") = e;
    register long r9 asm("r9") = f;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 asm("x8") = number;
    register long x0 asm("x0") = a;
    register long x1 asm("x1") = b;
    register long x2 asm("x2") = c;
    register long x3 asm("x3") = d;
    register long x4 asm("x4") = e;
    register long x5 asm("x5") = f;
    asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#else
    const int saved = errno;
    const long result = syscall(number, a, b, c, d, e, f);
    const long answer = result < 0 ? -static_cast<long>(errno) : result;
    errno = saved;
    return answer;
#endif
}

inline long raw_address(const void* p) { return reinterpret_cast<long>(p); }

// The working directory as text. Returns 0, or an error and empty text where it has none that can be named: it was
// removed, lies outside of a changed root ("(unreachable)"), or its path is too long.
inline int working_directory(char* text, unsigned long size) {
    const long length = raw(SYS_getcwd, raw_address(text), static_cast<long>(size));
    if (length > 0 && text[0] == '/') return 0;
    text[0] = 0;
    return length < 0 ? static_cast<int>(-length) : ENOENT;
}

}  // namespace mpiprof
