// The stack above a call: where it returns to, where that caller returns to, and so on; and where on the stack those
// return addresses lie, so that a later call from the same frame can see by two words whether its callers are the same.
// Unwound once per new (return address, frame) of a thread, never on the hot path. The unwinder is handed in by wrap/.
#pragma once

#include "libmpiprof/base/basics.h"
#include "libmpiprof/record/library_moment.h"

namespace mpiprof {

struct CallStack {
    static constexpr unsigned deepest = 32;
    unsigned depth;              // at least 1
    Word address[deepest];       // innermost first: where the call returns to
    const Word* place[deepest];  // where that address lies; null = not known
    LibraryMoment moment{};      // of the walk; zero = not known
    bool is_shallow = false;     // the walk needed little of the stack itself
    bool is_cut = false;         // there is more, behind a frame that the walk could not pass
};

// The functions of libgcc_s that exceptions and glibc's backtrace() use, too. Unlike others they tell frames'
// addresses.
struct Unwinder {
    using Visit = int (*)(void* context, void* argument);
    static constexpr int end_of_stack = 5;  // their reason; a visit that answers it (or any other than 0) ends the walk
    static constexpr int cut = 1;           // own_unwinder.h's: there is more, and it cannot be followed
    int (*backtrace)(Visit visit, void* argument);
    std::uintptr_t (*ip)(void* context);
    std::uintptr_t (*cfa)(void* context);
    // Whether backtrace() without a visit adds to a stack by itself: the callers of its first place, up to `wanted`
    // addresses. Its argument is a Following then; a function more would be a relocation in every process.
    bool follows = false;
};
struct Following {
    CallStack& stack;
    unsigned wanted;
};

// Up to `depth` return addresses. `frame` is where the first one, `return_address`, lies. Without an unwinder, or where
// the stack cannot be followed, as many as there are.
CallStack unwind(const Unwinder* unwinder, const Word* frame, Word return_address, unsigned depth);

}  // namespace mpiprof
