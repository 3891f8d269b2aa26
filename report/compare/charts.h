// Runs as charts: what `mpiprof-report plot` draws. Numbers are those of the tables.
#pragma once

#include <string>
#include <vector>

#include "report/compare/run.h"
#include "report/compare/scaling_tables.h"
#include "report/plots/chart.h"

namespace mpiprof::report {

// Speedup over N with the light diagonal of perfect scaling.
Chart scaling_chart(const ScalingReport& report);

// Bytes over time of single calls, by their size: of the function that moved most bytes in that run, or of `call`.
Chart bandwidth_chart(const std::vector<Run>& runs, const std::string& call);

// How many calls that carry messages have which size.
Chart sizes_chart(const std::vector<Run>& runs);

}  // namespace mpiprof::report
