// Looks at a running job again and again until it ends: for `watch`, and `transfers --follow`.
// It shows nothing itself and never touches the job.
#pragma once

#include <functional>
#include <optional>

#include "report/commands/load.h"

namespace mpiprof::report {

inline constexpr double usual_interval_s = 2;

// Sleeps; an interrupt ends it.
bool pause_for(double seconds);

// Calls look(job as it is now, whether this is the last look) every interval_s until the job ends or the user
// interrupts; false from `look` or from `pause`, which is called between two looks, ends it, too. The exit code: 3
// where there is no job.
int follow(const Options& options, double interval_s,
           const std::function<bool(std::unique_ptr<Loaded> now, bool ends)>& look,
           const std::function<bool(double seconds)>& pause = pause_for);

// Whether the user has interrupted it.
bool is_interrupted();

}  // namespace mpiprof::report
