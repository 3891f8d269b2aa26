// A finding as fields for programs: whom and what it speaks of, and what it costs. For sections and exports, which
// write them beside its rule and its sentence.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "report/analysis/analysed.h"
#include "report/model/table.h"

namespace mpiprof::report {

// "ranks" ("0-3,7"), "nodes" and "calls" (names, separated by commas), "run_share" (of the time of all ranks) and
// "cost_ns" (that share of it), "since_ns" and "until_ns" (since 1970; not known: from the start, to the end). In this
// order and all of them; what does not apply is not known.
std::vector<std::pair<std::string_view, Value>> fields_of(const Finding& finding, const Analysed& all);

}  // namespace mpiprof::report
