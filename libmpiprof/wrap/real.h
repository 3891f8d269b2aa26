// Finding the real function behind an exported name: what the program would have called without us.
// Called once per function and process (a lookup never happens on the hot path); knows no MPI but its names.
#pragma once

#include "libmpiprof/record/basics.h"

namespace mpiprof::wrap {

struct Real {
    void* function;      // null: no such function anywhere
    const void* object;  // start of the object that it lies in
};

// The caller's own dependencies first (right even when two MPIs are loaded, and the only way to a library that came in by
// dlopen(RTLD_LOCAL)), then the next definition in load order (another tool, or the library), then every loaded object.
Real find_real(const char* name, Word return_address);

// The function `name` of the library that `near` lies in or depends on; null if it has none. For questions of our own.
void* find_beside(const char* name, const void* near);

// Ends the process as the loader would have ended it: nobody defines the function that the program calls.
[[noreturn]] void no_such_function(const char* name);

}  // namespace mpiprof::wrap
