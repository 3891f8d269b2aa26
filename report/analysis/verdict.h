// The verdict on a job: which of its findings is the cause of the time lost, which others it explains, in the order of
// what they cost. The first is what a report begins with; there always is one, if only that nothing is worth a look.
// Values alone: sections put them into words.
#pragma once

#include <vector>

#include "report/analysis/figures.h"
#include "report/analysis/finding.h"
#include "report/model/job.h"

namespace mpiprof::report {

struct Verdict {
    Finding finding;
    std::vector<Finding> explained;  // follow from it
};

std::vector<Verdict> verdicts_of(const Job& job, const Figures& figures);

}  // namespace mpiprof::report
