// The token: holding it means "this is the user's own call, and this thread may record it". MPI calls MPI (MPICH's
// Fortran binding, ROMIO), so every wrapper asks for it; only the outermost gets it. No destructor, no lock.
//
// It is the address of the outermost wrapper's frame. An entry at or above that address knows that the old frame is
// gone (longjmp, C++ exception). One below it may be nested, or a deeper call of a later time: wrap/real.h's
// find_nesting() decides. A second half that does not find its own frame there was overtaken by a call on another stack
// of this thread (fibers).
#pragma once

#include "libmpiprof/base/basics.h"
#include "libmpiprof/record/native_stack.h"

namespace mpiprof {

class Ledger;

struct ThreadState {
    std::uint64_t epoch;  // the gate's value when this thread last looked; differs = take the slow path
    const Word* token;    // null = outside every wrapper
    Ledger* ledger;
};

// Initial-exec: one instruction, no __tls_get_addr; constant-initialised and trivially destructible, so it is valid
// before our constructor would have run and after every destructor.
[[gnu::visibility("hidden")]] extern constinit thread_local ThreadState thread_state
    __attribute__((tls_model("initial-exec")));

// Open while recording: every change that the hot path must notice (a freed handle, a pause, the end) gives it a new
// value; 0 is closed. It lies on a page that the kernel wipes in a forked child, so a child finds it closed before it
// touches anything of its parent's. The alignment is the largest page size of our targets (aarch64, ppc64le: 64 KiB).
struct alignas(65536) Gate {
    std::uint64_t epoch;
    char rest_of_the_page[65536 - sizeof(std::uint64_t)];
};
[[gnu::visibility("hidden")]] extern constinit Gate gate;

// The address of the frame of the function that it is used in: where on x86 its return address lies; the words above it
// belong to the callers. The same in all functions that were entered one from the other by tail calls.
#define MPIPROF_FRAME() (static_cast<const ::mpiprof::Word*>(__builtin_dwarf_cfa()) - 1)

// The token of calls that are not timed: one byte higher, since no record tells where they return to.
inline const Word* untimed(const Word* frame) {
    return reinterpret_cast<const Word*>(reinterpret_cast<const char*>(frame) + 1);
}

inline bool is_timed(const Word* token) { return reinterpret_cast<std::uintptr_t>(token) % 2 == 0; }

// False: no wrapper further up this stack holds the token. `returns_to`: where the thread's last timed call does, the
// holder if the token is a timed call's. If its frame is gone, mostly something else lies there now; or nothing, where
// its stack was given back. `own`: the thread's stack.
inline bool may_be_nested(const ThreadState& state, const Word* frame, [[maybe_unused]] Word returns_to,
                          [[maybe_unused]] const NativeStack& own) {
    if (frame >= state.token) return false;
#if defined(__x86_64__)
    if (Word there; is_timed(state.token) && (!own.read(state.token, frame, there) || there != returns_to))
        return false;
#endif
    return true;
}

// Every thread looks up what has changed before its next call; where nothing is recorded there is none to look. Waits
// for nobody: the epochs that the runtime gives lie below.
inline void nudge_gate() {
    constexpr std::uint64_t step = std::uint64_t{1} << 32;
    std::uint64_t epoch = __atomic_load_n(&gate.epoch, __ATOMIC_RELAXED);
    while (epoch != 0 &&
           !__atomic_compare_exchange_n(&gate.epoch, &epoch, epoch + step, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}

// The gate's epoch, as the hot path reads it: what it guards is looked at again behind an acquire (Runtime::open).
inline std::uint64_t gate_epoch() { return __atomic_load_n(&gate.epoch, __ATOMIC_RELAXED); }

}  // namespace mpiprof
