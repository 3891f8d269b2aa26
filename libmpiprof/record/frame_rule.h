// How to get from one function's frame to its caller's, on x86-64. frame_program.h reads it from unwind information,
// frame_rules.h remembers it, own_unwinder.cpp goes by it. It holds no memory of its own.
#pragma once

#include "libmpiprof/base/basics.h"

namespace mpiprof {

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
};

// Where a walk is.
struct Cursor {
    Word address;
    std::uintptr_t cfa;  // of the frame below: the stack pointer in this one
    std::uintptr_t rbp;
    bool is_return;  // the address is behind a call
};

}  // namespace mpiprof
