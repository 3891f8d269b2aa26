// What finders share. Each finding says what share of the run it costs where that is known, so that verdict.cpp can put
// the largest first.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "report/analysis/finding.h"
#include "report/model/job.h"

namespace mpiprof::report {

// Part of a whole; 0 of nothing.
inline double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Below this share of the run nothing is worth a person's minute.
inline constexpr double worth_a_look = 0.05;

Finding& add(std::vector<Finding>& findings, Rule rule, bool is_serious, Evidence evidence);

// Of whom it speaks, and of their node if they are all on one.
void name_ranks(Finding& finding, const Job& job, std::vector<std::uint32_t> ranks);

// Whether waiting for a processor may be why they come late.
void add_processors(const Job& job, evidence::Varying& e);

}  // namespace mpiprof::report
