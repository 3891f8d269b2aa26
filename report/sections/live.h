// A running job as it is at this moment, compared with how it was a moment ago. For `watch`; not in the list of
// sections, which know one Job.
#pragma once

#include <string>
#include <vector>

#include "report/analysis/analysed.h"
#include "report/model/table.h"

namespace mpiprof::report {

// The same job, looked at twice; `before` may be null.
std::vector<Table> live_tables(const Analysed& now, const Job* before);
std::string live_line(const Analysed& now, const Job* before);  // the same in one line
std::string final_line(const Job& job);                         // of a job that has ended

}  // namespace mpiprof::report
