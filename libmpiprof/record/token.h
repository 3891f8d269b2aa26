// The token: holding it means "this is the user's own call, and this thread may record it". MPI calls MPI (MPICH's
// Fortran binding, ROMIO), so every wrapper asks for it; only the outermost gets it. No destructor, no lock.
//
// It is the address where the outermost wrapper's return address lies. An entry at or above that address knows that the
// old frame is gone (longjmp, C++ exception), and so does one below it if another return address lies there now. One
// below it that finds the old one may still stand in a deeper call of a later time: wrap/real.h's is_nested() decides.
#pragma once

#include "libmpiprof/record/basics.h"

namespace mpiprof {

class Ledger;

struct ThreadState {
    std::uint64_t epoch;      // the gate's value when this thread last looked; differs = take the slow path
    const Word* token;        // null = outside every wrapper
    Word token_return;
    Ledger* ledger;
};

// Initial-exec: one instruction, no __tls_get_addr; constant-initialised and trivially destructible, so it is valid
// before our constructor would have run and after every destructor.
[[gnu::visibility("hidden")]] extern constinit thread_local ThreadState thread_state __attribute__((tls_model("initial-exec")));

// Open while recording: every change that the hot path must notice (a freed handle, a pause, the end) gives it a new
// value; 0 is closed. It lies on a page that the kernel wipes in a forked child, so a child finds it closed before it
// touches anything of its parent's. The alignment is the largest page size of our targets (aarch64, ppc64le: 64 KiB).
struct alignas(65536) Gate {
    std::uint64_t epoch;
    char rest_of_the_page[65536 - sizeof(std::uint64_t)];
};
[[gnu::visibility("hidden")]] extern constinit Gate gate;

// Where the return address of the function it is used in lies.
#if defined(__x86_64__)
#define MPIPROF_RETURN_SLOT() (static_cast<const ::mpiprof::Word*>(__builtin_dwarf_cfa()) - 1)
#else
#define MPIPROF_RETURN_SLOT() (static_cast<const ::mpiprof::Word*>(__builtin_frame_address(0)) + 1)
#endif

// False: no wrapper further up this stack holds the token.
inline bool may_be_nested(const ThreadState& state, const Word* slot) {
    return slot < state.token && *state.token == state.token_return;
}

}  // namespace mpiprof
