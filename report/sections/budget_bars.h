// Time budgets as bars: of the mean of the ranks, which the summary shows, and of single ranks beside it, for the page.
#pragma once

#include <vector>

#include "report/analysis/analysed.h"
#include "report/model/table.h"

namespace mpiprof::report {

// From the end of MPI_Init to MPI_Finalize, without pauses. Without segments where that time is not known.
StackedBar bar_of(const Budget& budget, const Analysed& all);

// The rank with most time outside MPI and the one with most time inside, a bar each.
std::vector<Table> bars_of_ends(const Analysed& all);

// Up to four figures, each with where it is good and where poor, and the ranks with the least and the most of it: how
// the run stands at a glance. Empty where the run was cut off, or is of one rank.
Table standing_table(const Analysed& all);

}  // namespace mpiprof::report
