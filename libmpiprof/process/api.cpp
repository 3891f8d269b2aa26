// The functions of include/mpiprof.h, for programs that tell of themselves. In a program without MPI, or before
// MPI_Init, they do nothing.
#include "libmpiprof/process/runtime.h"

#define EXPORT extern "C" [[gnu::visibility("default")]]

EXPORT void mpiprof_region_begin(const char* name) { mpiprof::runtime.begin_region(name); }
EXPORT void mpiprof_region_end(const char* name) { mpiprof::runtime.end_region(name); }
EXPORT void mpiprof_iteration(long items) {
    mpiprof::runtime.end_iteration(items > 0 ? static_cast<std::uint64_t>(items) : 0);
}
EXPORT void mpiprof_pause() { mpiprof::runtime.pause(); }
EXPORT void mpiprof_resume() { mpiprof::runtime.resume(); }
