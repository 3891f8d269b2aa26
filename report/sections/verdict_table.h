// What stands below a verdict: where in the source it happens, and what to look at or do next. For the summary,
// `--brief` and the exports.
#pragma once

#include <string>
#include <string_view>

#include "report/analysis/finding.h"
#include "report/model/job.h"
#include "report/model/table.h"

namespace mpiprof::report {

// "MPI_Waitall at halo.c:123 exchange: 91.0% of that waiting (an estimate)". Empty: no line has most of it, or none is
// known by a name.
std::string site_of(const Finding& verdict, const Job& job);

// What a reader does now; empty where nothing is to be done.
std::string_view next_step(const Finding& verdict);

Table verdict_table(const Job& job, const Verdict& verdict);

}  // namespace mpiprof::report
