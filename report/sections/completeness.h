// Whether the profile of a job is whole, in one line. For the first lines of the summary and of `--brief`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

struct Completeness {
    std::vector<NumberList::Range> missing;
    std::uint32_t unfinished = 0;
    std::uint32_t running = 0;
    std::uint32_t profiles = 0;
    bool is_complete = false;
    std::string text;
};

Completeness completeness_of(const Job& job);

}  // namespace mpiprof::report
