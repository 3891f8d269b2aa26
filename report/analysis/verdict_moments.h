// When what a report begins with began and ended, as places on the axis of time: what the map of ranks over time is
// marked by, on every screen. It asks Analysed alone.
#pragma once

#include <cstdint>
#include <vector>

#include "report/analysis/analysed.h"
#include "report/analysis/periods.h"

namespace mpiprof::report {

struct VerdictMoment {
    double at = 0;              // 0..1 of the axis
    std::uint64_t time_ns = 0;  // since 1970
    bool begins = true;         // else it ends
    Rule rule;
};

// Empty where it was so all the time, or is not known.
std::vector<VerdictMoment> verdict_moments(const Analysed& all, const Axis& axis);

}  // namespace mpiprof::report
