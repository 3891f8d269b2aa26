// Begins the profile, whichever library's first call is seen first: what the recorder needs of wrap/ is handed to it
// here.
#pragma once

#include "libmpiprof/process/runtime.h"
#include "libmpiprof/process/settings.h"
#include "libmpiprof/record/general_unwinder.h"
#include "libmpiprof/wrap/python.h"
#include "libmpiprof/wrap/real.h"

namespace mpiprof::wrap {

// Asks to be told when the object with this handle goes: Sites::watch.
inline bool watch_unloading(void* handle, void* range) {
    const auto goes = [](void* of) {
        forget_interpreters_code();
        Sites::object_goes(of);
    };
    return call_at_unloading(handle, goes, range);
}

inline void start_profile(const World& world, Ticks init_ticks) {
    runtime.records().sites.depth = number_of(Setting::depth);
    runtime.records().sites.unwinder = find_unwinder;
    if (is_on(Setting::libunwind)) runtime.records().sites.general_unwinder = follow_by_libunwind;
    runtime.records().sites.interpreter = find_python;
    runtime.records().sites.watch = watch_unloading;
    runtime.start(whole_catalogue, world, init_ticks);
}

}  // namespace mpiprof::wrap
