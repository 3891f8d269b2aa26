// Where the time of a rank goes at each size, and which calls stop scaling. For scaling_tables, where runs have
// profiles.
#pragma once

#include <vector>

#include "report/compare/scaling.h"
#include "report/model/table.h"

namespace mpiprof::report {

// None where the series is of bare times.
std::vector<Table> scaling_call_tables(const ScalingSeries& series);

}  // namespace mpiprof::report
