// What a job has left over, line by line: a loop that the compiler unrolled makes the same things at several addresses.
// For the summary and the json export.
#pragma once

#include <string>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

struct LeftOverLine {
    LeftOver sum;  // without its place; of several places the most ranks
    std::string place;
};

// In the order of Job::left_over.
std::vector<LeftOverLine> left_over_lines(const Job& job);

}  // namespace mpiprof::report
