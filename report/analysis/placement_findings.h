// What is wrong with where the ranks of a job ran. A rule speaks only of what it can know. For the section `placement`;
// what is serious is said by the summary, too.
#pragma once

#include <vector>

#include "report/analysis/finding.h"
#include "report/model/job.h"

namespace mpiprof::report {

// The serious ones first.
std::vector<Finding> placement_findings(const Job& job);

// Every rank told where it may run, and no two of them may run on the same core.
bool all_have_own_cores(const Job& job);

}  // namespace mpiprof::report
