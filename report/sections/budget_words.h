// What the parts of a time budget are called: on lines, at the head of columns, and in csv and json. For the section
// `budget` and for the comparisons of several jobs.
#pragma once

#include <string>
#include <string_view>

#include "report/analysis/budget.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {

std::string_view id_of(Part part);                        // "waiting"
std::string_view column_of(Part part);                    // "WAITING"
int drop_of(Part part);                                   // Column::drop, where each part is a column
std::string line_of(Part part, const Vocabulary& words);  // "waiting for other ranks"

}  // namespace mpiprof::report
