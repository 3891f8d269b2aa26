// What deserves a look, each with the evidence it rests on. A rule speaks only when the numbers show it; it never
// concludes from MPI time alone. For the summary.
#pragma once

#include <string>
#include <vector>

#include "report/analysis/figures.h"
#include "report/model/job.h"

namespace mpiprof::report {

struct Finding {
    bool is_serious = false;  // "!" against "."
    std::string text;
    std::string rule;  // its name: [overlap]
};

std::vector<Finding> findings_of(const Job& job, const Figures& figures);

}  // namespace mpiprof::report
