// What to say when there is nothing to report on: the likely causes and what to do. For main.
#pragma once

#include <string>

#include "report/read/job_dir.h"

namespace mpiprof::report {

std::string explain_no_profile(const Found& found);

}  // namespace mpiprof::report
