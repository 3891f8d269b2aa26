// What deserves a look, each with the evidence it rests on. A rule speaks only when the numbers show it; it never
// concludes from MPI time alone. For the summary.
#pragma once

#include <vector>

#include "report/analysis/finding.h"

namespace mpiprof::report {

class Analysed;

// The serious ones first.
std::vector<Finding> findings_of(const Analysed& all);

// The finders, which one findings.cpp calls after the other.
#define FINDER(find) void find(const Analysed& all, std::vector<Finding>& findings);
#include "report/analysis/finders.def"
#undef FINDER
// Where nothing else is a cause: time in MPI, or nothing worth a look.
void find_remainder(const Analysed& all, std::vector<Finding>& findings);

}  // namespace mpiprof::report
