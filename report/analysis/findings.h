// What deserves a look, each with the evidence it rests on. A rule speaks only when the numbers show it; it never
// concludes from MPI time alone. For the summary.
#pragma once

#include <vector>

#include "report/analysis/figures.h"
#include "report/analysis/finding.h"
#include "report/model/job.h"

namespace mpiprof::report {

// The serious ones first.
std::vector<Finding> findings_of(const Job& job, const Figures& figures);

}  // namespace mpiprof::report
