// The unwinder of x86-64 and aarch64: follows the stack by the rules of frame_rules.h, and reads it through the kernel,
// so that no description that is wrong, and no stack that ends early, can harm the program. Handed to record/ by wrap/,
// in the place of libgcc's, which serves the other processors.
#pragma once

#include "libmpiprof/record/stack.h"

namespace mpiprof {

[[gnu::visibility("hidden")]] extern const Unwinder own_unwinder;

}  // namespace mpiprof
