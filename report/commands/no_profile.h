// What to say when there is nothing to report on: the likely causes and what to do. For the commands.
#pragma once

#include <string>
#include <vector>

#include "report/read/job_dir.h"

namespace mpiprof::report {

std::string explain_no_profile(const Found& found);

// The same in one line: the likeliest cause.
std::string no_profile_in_short(const Found& found);

// Those directly below it that hold profiles, sorted.
std::vector<std::string> directories_with_profiles(const std::string& directory);

}  // namespace mpiprof::report
