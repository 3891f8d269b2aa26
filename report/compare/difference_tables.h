// A difference in tables: what `mpiprof-report diff` shows.
#pragma once

#include <string>
#include <vector>

#include "report/compare/difference.h"
#include "report/model/table.h"

namespace mpiprof::report {

struct DifferenceQuestion {
    std::size_t top = 10;  // lines of each list
    bool is_for_screen = true;
};

std::vector<Table> difference_tables(const Side& a, const Side& b, const RunDifference& difference,
                                     const DifferenceQuestion& question);

}  // namespace mpiprof::report
