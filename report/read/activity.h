// The activity records of a profile's threads -> the Activity of the rank. Safe for any bytes: what cannot be is left
// out. Used by the profile reader only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libmpiprof/format/layout.h"
#include "report/model/activity.h"
#include "report/read/tick_scale.h"

namespace mpiprof::report {

struct ThreadActivity {
    format::Activity record;
    // All that the thread's cells hold.
    std::uint64_t time_ns = 0;
    std::uint64_t bytes = 0;
    std::uint64_t in_call_since_ns = 0;  // it is in a call that began so long after MPI_Init; 0 = it is in none
};

// Empty where no record says anything.
Activity activity_of(std::span<const ThreadActivity> threads, const TickScale& scale, std::uint64_t elapsed_ns);

}  // namespace mpiprof::report
