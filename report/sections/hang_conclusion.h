// What the section `hang` says first: who waits for whom, or that nobody hangs.
#pragma once

#include <string>
#include <vector>

#include "report/analysis/arrivals.h"
#include "report/sections/standing_lines.h"

namespace mpiprof::report {

std::string conclusion(const Job& job, const StandingLines& lines, const std::vector<Arrival>& arrivals,
                       const std::vector<Arrival>& lags);

}  // namespace mpiprof::report
