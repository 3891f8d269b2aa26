// Whether the profile of a job is whole, in one line. For the first lines of the summary and of `--brief`.
#pragma once

#include <string>

#include "report/analysis/completeness.h"
#include "report/model/job.h"

namespace mpiprof::report {

std::string text_of(const Completeness& completeness, const Job& job);

}  // namespace mpiprof::report
