// What a process may become: another user, or member of other groups. Decides of which kind our helper thread is, and
// what is left to it (docs/decisions/0006).
#pragma once

#include <cstdint>

namespace mpiprof {

// Whether setuid(), setgid() and the like may make another user of the calling thread, so that a thread that libc does
// not know would stay what it is.
bool may_change_rights();

// CAP_SETGID and CAP_SETUID, as bits: what libc needs in each of its threads to change all of them.
inline constexpr std::uint64_t rights_to_change = 3u << 6;

// The calling thread gives up all capabilities but those. By raw system calls alone.
void keep_capabilities(std::uint64_t kept);

}  // namespace mpiprof
