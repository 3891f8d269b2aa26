// The world that a process is a rank of, as MPI or the launcher said. The room of the library fills it in, who.h and
// launch.h go by it.
#pragma once

#include "libmpiprof/format/layout.h"

namespace mpiprof {

// What the MPI library itself said, after the real MPI_Init.
struct World {
    unsigned rank;
    unsigned size;
    bool is_world;  // false: sessions only; rank and size are the launcher's
    bool is_spawned;
    unsigned thread_level;
    format::MpiFamily family;
    const char* library;        // MPI_Get_library_version
    int cuda_aware = -1;        // MPIX_Query_cuda_support; -1: the library has no such question
    bool is_launchers = false;  // rank and size are what the launcher's environment says
};

}  // namespace mpiprof
