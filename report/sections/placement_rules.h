// What is wrong with where the ranks of a job ran, and what to do about it. A rule speaks only of what it can know.
// For the section `placement`; what is serious is said by the summary, too.
#pragma once

#include <string>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

struct PlacementFinding {
    bool is_serious = false;
    std::string text;
    std::string advice;  // may be empty
    std::string rule;
};

// The serious ones first.
std::vector<PlacementFinding> placement_findings(const Job& job);

// Every rank told where it may run, and no two of them may run on the same core.
bool all_have_own_cores(const Job& job);

}  // namespace mpiprof::report
