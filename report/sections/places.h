// A place of Job::places in one word: "halo.f90:123", or what is known of it. For sentences, which have no room for
// more.
#pragma once

#include <cstdint>
#include <string>

#include "report/model/job.h"

namespace mpiprof::report {

// Empty where nothing is known.
std::string line_text(const Job& job, std::uint32_t place);
// " (halo.f90:123)"
std::string in_brackets(const std::string& line);

}  // namespace mpiprof::report
