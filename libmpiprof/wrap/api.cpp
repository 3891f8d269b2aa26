// The functions of include/mpiprof.h, for programs that tell of themselves. The first mark begins the profile where
// nothing else has: of a program that never begins MPI or NCCL it is all there is.
#include "libmpiprof/host/launch.h"
#include "libmpiprof/wrap/start.h"

#define EXPORT extern "C" [[gnu::visibility("default")]]

namespace {

// What a program says of itself by a label or a pause is no reason to begin a profile.
mpiprof::Runtime& begun() {
    if (mpiprof::runtime.has_not_begun() && mpiprof::runtime.prepare())
        mpiprof::wrap::start_profile(mpiprof::world_without_mpi(0, 1, ""), 0);
    return mpiprof::runtime;
}

}  // namespace

EXPORT void mpiprof_region_begin(const char* name) { begun().begin_region(name); }
EXPORT void mpiprof_region_end(const char* name) { mpiprof::runtime.end_region(name); }
EXPORT void mpiprof_iteration(long items) { begun().end_iteration(items > 0 ? static_cast<std::uint64_t>(items) : 0); }
EXPORT void mpiprof_set_label(const char* key, const char* value) { mpiprof::runtime.set_label(key, value); }
EXPORT void mpiprof_pause() { mpiprof::runtime.pause(); }
EXPORT void mpiprof_resume() { mpiprof::runtime.resume(); }
