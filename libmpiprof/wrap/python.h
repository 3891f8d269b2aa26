// CPython's frames, read from the thread's own state: no reference is counted, no lock taken, nothing of Python's
// called but to name a new place. The thread is inside an MPI call, so its frames stand still whether or not it holds
// the GIL.
#pragma once

#include "libmpiprof/record/script.h"

namespace mpiprof::wrap {

// Null if this process runs no Python, or one whose objects are laid out in a way that is not known. Looked for once.
const Interpreter* find_python();

// Code was unloaded: what is known of return addresses may be another's.
void forget_interpreters_code();

}  // namespace mpiprof::wrap
