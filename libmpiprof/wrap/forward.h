// The real call of the plain form, which has its arguments as so many words. Called by wrap/plain_form.h.
#pragma once

#include "libmpiprof/base/basics.h"

namespace mpiprof::wrap {

// A symbol has up to sixteen words (thirteen arguments, ierror, two lengths of strings), or these, where one of NCCL's
// arguments comes by value.
inline constexpr unsigned most_words = 16, words_with_a_value = 22;

// Calls `function` with the first `n` words, each as one argument, and returns its whole result register.
Word forward(const void* function, const Word* words, unsigned n);

}  // namespace mpiprof::wrap
