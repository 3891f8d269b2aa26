// A number from /proc/self/status, where the kernel says of this process what has no system call.
#pragma once

namespace mpiprof {

// What stands behind `label` ("Threads:\t"); `fallback` where the line or the file is missing.
int status_number(const char* label, int fallback);

}  // namespace mpiprof
