// What a report begins with below the verdict: what ran, where, with which library, how long, and whether the profile
// is whole. For the section `summary`.
#pragma once

#include <string>

#include "report/analysis/analysed.h"
#include "report/analysis/figures.h"
#include "report/model/table.h"

namespace mpiprof::report {

// "64 ranks on 2 nodes (n1, n2)", the nodes as far as they are known.
std::string where_it_ran(const Job& job, bool names_hosts);

// "heat, job 4711, 2026-11-28 10:42:40, 64 ranks on 2 nodes": of which run a picture is.
std::string run_in_a_line(const Job& job);

Table run_headline(const Analysed& all);

}  // namespace mpiprof::report
