// A difference in tables and words: what `mpiprof-report diff` shows.
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

std::vector<Table> difference_tables(const Side& a, const Side& b, const Difference& difference,
                                     const DifferenceQuestion& question);

// "after is slower than before by 9.8%; with 95% confidence ...", and why nothing more certain can be said where it
// cannot.
std::string verdict_text(const TestedTime& tested, const std::string& a, const std::string& b);

}  // namespace mpiprof::report
