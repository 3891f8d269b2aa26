// How to get from one function's frame to its caller's. frame_program.h reads it from unwind information, frame_rules.h
// remembers it, own_unwinder.cpp goes by it. It holds no memory of its own. Registers have the names of x86-64: on
// aarch64 %rsp stands for sp, and %rbp for x29. There a call leaves its return address in x30, and where a function
// keeps that is for its rule to say; on x86-64 it lies right below the CFA.
#pragma once

#include "libmpiprof/base/basics.h"

#if defined(__x86_64__) || defined(__aarch64__)
#define MPIPROF_HAS_OWN_UNWINDER 1
#else
#define MPIPROF_HAS_OWN_UNWINDER 0
#endif

namespace mpiprof {

#if defined(__aarch64__)
inline constexpr bool returns_by_register = true;
#else
inline constexpr bool returns_by_register = false;
#endif

// The canonical frame address (CFA): the stack pointer behind the return.
// no_code: nothing can return there; behind_rbp: it is in the word at %rbp + offset; signal: the frame that the kernel
// made for a handler, which holds all registers; outermost: nobody called it.
enum class CfaRule : std::uint8_t { none, no_code, by_rsp, by_rbp, behind_rbp, signal, outermost };
enum class RbpRule : std::uint8_t { same, at_cfa, at_rbp };  // where the caller's lies

struct FrameRule {
    Word address;  // which it is of
    std::int32_t cfa_offset;
    std::int16_t rbp_offset;
    CfaRule cfa;
    RbpRule rbp;
#if defined(__aarch64__)
    std::int32_t returns_at = 0;  // where the return address lies, from the CFA on; 0: in x30
#endif
};

// Where a walk is.
struct Cursor {
    Word address;
    std::uintptr_t cfa;  // of the frame below: the stack pointer in this one
    std::uintptr_t rbp;
    bool is_return;  // the address is behind a call
#if defined(__aarch64__)
    const Word* place = nullptr;  // where the address was read; null: in no word of the stack
    Word link = 0;                // x30, where a signal came in
#endif
};

}  // namespace mpiprof
