// Messages to the user: whole lines on standard error (standard_error.h), beginning "mpiprof: ". Never more than one
// line a matter.
#pragma once

namespace mpiprof {

// Formats like printf (no floating point needed); one line of at most 1 KiB.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...);

}  // namespace mpiprof
