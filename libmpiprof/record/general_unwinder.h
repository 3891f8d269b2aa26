// libunwind, where it is installed: follows a stack beyond the frame that own_unwinder.cpp cannot pass, whose rule
// needs another register, an expression, or code that was registered at run time. Asked by the ledger for a new place
// whose walk was cut. Opened at the first such place; never below a signal handler, nor where little of the stack is
// left.
#pragma once

#include "libmpiprof/record/native_stack.h"
#include "libmpiprof/record/stack.h"

namespace mpiprof {

// Adds to a stack whose walk was cut: up to `wanted` addresses, from a frame on the thread's own stack, `own`. What is
// read of the stack and of descriptions is read through the kernel. False: there is nothing to add.
bool follow_by_libunwind(CallStack& stack, unsigned wanted, const NativeStack& own);

}  // namespace mpiprof
